// The keyboard, live updates, dark and light, and the token that each change must show.
"use strict"

const root = document.documentElement
const theme = localStorage.getItem("theme")
if (theme) root.dataset.theme = theme

document.addEventListener("htmx:config:request", (event) => {
  event.detail.ctx.request.headers["X-Page-Token"] = pageToken()
})

function pageToken() {
  return document.querySelector("meta[name=page-token]").content
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelector("[data-theme-switch]")?.addEventListener("click", switchTheme)
  document.querySelector("[data-help]")?.addEventListener("click", showKeys)
  document.querySelector("[data-menu]")?.addEventListener("click", toggleMenu)
  document.addEventListener("keydown", onKey)
  document.addEventListener("input", keepAddress)
  document.addEventListener("toggle", keepOpen, true)
  if (matchMedia("(max-width: 800px)").matches) document.querySelector("[data-tree]")?.removeAttribute("open")
  for (const wide of document.querySelectorAll(".scroll")) wide.scrollLeft = wide.scrollWidth
  if (location.hash) reveal(location.hash.slice(1))
  follow()
})

function switchTheme() {
  const dark = getComputedStyle(root).colorScheme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches)
  root.dataset.theme = dark ? "light" : "dark"
  localStorage.setItem("theme", root.dataset.theme)
}

function toggleMenu(event) {
  const open = document.body.classList.toggle("menu-open")
  event.target.setAttribute("aria-expanded", open)
}

function showKeys() {
  document.getElementById("keys").showModal()
}

// Links to a line or job: where it is must be seen.
function reveal(id) {
  const target = document.getElementById(id)
  target?.classList.add("target")
  target?.scrollIntoView({block: "center"})
}

// The address of a search can be shared, and survives a reload.
function keepAddress(event) {
  const form = event.target.closest?.("form.search[hx-get]")
  if (!form) return
  form.parentElement.querySelectorAll(".why").forEach((why) => why.removeAttribute("hx-morph-skip"))
  const given = [...new FormData(form)].filter(([, value]) => value)
  const query = new URLSearchParams(given).toString()
  history.replaceState(null, "", form.getAttribute("action") + (query ? "?" + query : ""))
}

// What somebody has opened stays as it is when the page changes below it.
function keepOpen(event) {
  if (event.target.matches?.("details[hx-get]")) event.target.setAttribute("hx-morph-skip", "")
}

// ---- keyboard

let waitsForArea = false

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const typing = event.composedPath()[0].closest?.("input, textarea, select, [contenteditable]")
  if (typing) return onKeyWhileTyping(event, typing)
  const action = waitsForArea ? () => goTo(event.key) : KEYS[event.key]
  waitsForArea = false
  if (action && action() !== false) event.preventDefault()
}

const KEYS = {
  "/": focusSearch,
  "?": showKeys,
  j: () => move(1),
  k: () => move(-1),
  w: toggleWhy,
  e: () => document.querySelector("[data-edit]")?.click(),
  g: () => { waitsForArea = true },
}

function onKeyWhileTyping(event, field) {
  if (event.key === "Escape") field.blur()
  const down = event.key === "ArrowDown" || (event.key === "Enter" && field.form?.matches("[hx-get]"))
  if (!down || !field.matches("[data-search]")) return
  event.preventDefault()
  field.blur()
  move(1)
}

function goTo(key) {
  const link = document.querySelector(`[data-go="${CSS.escape(key)}"]`)
  if (link) location.href = link.href
  return Boolean(link)
}

function focusSearch() {
  const field = document.querySelector("[data-search], form[role=search] input[type=search]")
  if (!field) location.href = "/ui/search"
  field?.focus()
  field?.select()
}

// The part of an item that Enter opens.
function handle(item) {
  return item.matches("a") ? item : item.querySelector("[data-open], a, input, summary, button")
}

function items() {
  return [...document.querySelectorAll("[data-item]")].filter((item) => item.offsetParent && handle(item))
}

function move(step) {
  const all = items()
  if (!all.length) return false
  const at = all.findIndex((item) => item.contains(document.activeElement))
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)]
  handle(next).focus()
  next.scrollIntoView({block: "nearest"})
}

function toggleWhy() {
  const item = document.activeElement.closest?.("[data-item]") ?? items()[0]
  const why = item?.querySelector("[data-why]")
  why?.click()
  return Boolean(why)
}

// ---- live

function follow() {
  const live = document.querySelector("[data-live]")
  if (!live || !window.EventSource) return
  const news = new EventSource("/ui/events")
  let timer
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(refresh, 30)
  }
  for (const kind of ["change", "settings", "missed"]) news.addEventListener(kind, soon)
  window.addEventListener("pagehide", () => news.close())
}

function refresh() {
  const live = document.querySelector("[data-live]")
  // What somebody is writing is not replaced under their hands.
  if (!live || live.querySelector("textarea:focus") || live.querySelector("details.inline[open]")) return
  const target = "#" + live.id
  htmx.ajax("GET", location.pathname + location.search, {target, select: target, swap: "outerMorph"})
  htmx.trigger(document.body, "changed")
}
