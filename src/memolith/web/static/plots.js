// Draw the plots of the page with uPlot, in the colours of the page.
"use strict"

const DAY = 24 * 60 * 60
const TONES = ["--tone0", "--tone1", "--tone2"]

function draw(place) {
  const style = getComputedStyle(document.documentElement)
  const colour = (name) => style.getPropertyValue(name).trim()
  const canvas = (name) => {
    const probe = document.createElement("i")
    probe.className = "probe" + name
    document.body.append(probe)
    const found = getComputedStyle(probe).color
    probe.remove()
    return found || colour(name)
  }
  const data = JSON.parse(place.dataset.series)
  const labels = place.dataset.labels.split(",")
  const bars = place.dataset.plot === "bars"
  const axis = {stroke: canvas("--dim"), grid: {stroke: canvas("--line"), width: 1}, ticks: {show: false}}
  const first = data[0][0] ?? Date.now() / 1000
  const last = data[0].at(-1) ?? first
  place.replaceChildren()
  new uPlot(
    {
      width: place.clientWidth,
      height: 240,
      cursor: {y: false},
      scales: {
        x: {min: first - DAY, max: last + DAY}, // of a single point uPlot would show years
        y: {range: (_, low, high) => [0, Math.max(high, 1) * 1.08]},
      },
      axes: [axis, {...axis, size: 54}],
      series: [
        {value: (_, at) => (at === null ? "" : new Date(at * 1000).toLocaleDateString())},
        ...labels.map((label, at) => ({
          label,
          stroke: canvas(TONES[at]),
          fill: bars ? canvas(TONES[at]) : undefined,
          width: 2,
          points: {show: data[0].length < 3},
          paths: bars ? uPlot.paths.bars({size: [0.7, 14]}) : uPlot.paths.stepped({align: 1}),
        })),
      ],
    },
    data,
    place,
  )
}

function drawAll() {
  document.querySelectorAll("[data-plot]").forEach(draw)
}

document.addEventListener("DOMContentLoaded", drawAll)
new ResizeObserver(() => requestAnimationFrame(drawAll)).observe(document.documentElement)
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-switch]")) drawAll()
})
