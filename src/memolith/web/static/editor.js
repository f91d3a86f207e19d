// The editor: it saves what was changed only if nobody else has changed it; else both are shown side by side.
const place = document.getElementById("editor")
const area = document.getElementById("content")
const told = document.getElementById("told")
const saver = document.getElementById("save")
let version = place.dataset.version
let text = () => area.value
let cm, shadow, view
let saved = area.value

start()

async function start() {
  saver.addEventListener("click", save)
  window.addEventListener("beforeunload", (event) => {
    if (text() !== saved) event.preventDefault()
  })
  cm = await import(place.dataset.bundle)
  // In a shadow root the editor's styles need no exception from the policy of the page.
  shadow = place.attachShadow({mode: "open"})
  area.hidden = true
  edit(area.value)
  const line = Number(place.dataset.line)
  if (line > 1 && line <= view.state.doc.lines) {
    const at = view.state.doc.line(line).from
    view.dispatch({selection: {anchor: at}, effects: cm.EditorView.scrollIntoView(at, {y: "center"})})
  }
  view.focus()
}

function extensions(label, editable = true) {
  return [
    cm.lineNumbers(),
    cm.history(),
    cm.drawSelection(),
    cm.EditorView.lineWrapping,
    cm.markdown(),
    cm.syntaxHighlighting(cm.classHighlighter),
    cm.EditorView.contentAttributes.of({"aria-label": label}),
    cm.EditorState.readOnly.of(!editable),
    cm.keymap.of([
      {key: "Mod-s", run: () => (save(), true)},
      ...cm.defaultKeymap,
      ...cm.historyKeymap,
    ]),
    cm.EditorView.theme(THEME),
  ]
}

const MONO = "ui-monospace, 'Cascadia Code', 'Source Code Pro', Menlo, Consolas, monospace"
const THEME = {
  "&": {color: "var(--text)", backgroundColor: "var(--card)", fontSize: "0.9rem"},
  "&.cm-focused": {outline: "2px solid var(--accent)"},
  ".cm-scroller": {fontFamily: MONO, lineHeight: "1.6"},
  ".cm-content": {caretColor: "var(--text)", minHeight: "55vh", padding: "12px 0"},
  ".cm-cursor": {borderLeftColor: "var(--text)"},
  ".cm-gutters": {backgroundColor: "transparent", color: "var(--dim)", border: "0"},
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--mark) !important",
  },
  ".tok-heading": {fontWeight: "700", color: "var(--accent)"},
  ".tok-strong": {fontWeight: "700"},
  ".tok-emphasis": {fontStyle: "italic"},
  ".tok-link, .tok-url": {color: "var(--accent)"},
  ".tok-meta, .tok-comment": {color: "var(--dim)"},
  ".cm-collapsedLines": {"&:before": {content: '"…"'}, "&:after": {content: '"…"'}}, // its own sign is in few fonts
  ".cm-changedText": {background: "var(--mark) !important"},
}

function edit(content) {
  shadow.replaceChildren()
  const label = "Text of " + place.dataset.path
  const state = cm.EditorState.create({doc: content, extensions: extensions(label)})
  view = new cm.EditorView({state, parent: shadow, root: shadow})
  text = () => view.state.doc.toString()
}

function merge(theirs, mine) {
  shadow.replaceChildren()
  const merged = new cm.MergeView({
    a: {doc: theirs, extensions: extensions("As it is on the disk", false)},
    b: {doc: mine, extensions: extensions("Yours, which will be saved")},
    parent: shadow,
    root: shadow,
    revertControls: "a-to-b",
    collapseUnchanged: {margin: 3, minSize: 6},
  })
  view = merged.b
  text = () => merged.b.state.doc.toString()
}

async function post(content) {
  const token = document.querySelector("meta[name=page-token]").content
  const body = new URLSearchParams({path: place.dataset.path, content, version})
  const reply = await fetch("/ui/files/save", {method: "POST", body, headers: {"X-Page-Token": token}})
  return [reply.ok, await reply.json()]
}

async function save() {
  const content = text()
  saver.disabled = true
  try {
    const [ok, answer] = await post(content)
    if (ok) {
      version = answer.version
      saved = content
      if (shadow.querySelector(".cm-mergeView")) edit(content)
      say("good", ["Saved.", ...answer.warnings].join(" "))
    } else if (answer.conflict) {
      version = answer.current
      merge(answer.content, content)
      say("warn", "Somebody else changed this file meanwhile. Left: as it is on the disk. Right: yours. Take over what you want to keep with the arrows, then save.")
    } else {
      say("bad", [answer.message, answer.hint].filter(Boolean).join(" "))
    }
  } catch (error) {
    say("bad", "The server does not answer. Nothing is lost: your text is still here.")
  } finally {
    saver.disabled = false
  }
}

function say(kind, message) {
  told.className = "notice " + kind
  told.textContent = message
}
