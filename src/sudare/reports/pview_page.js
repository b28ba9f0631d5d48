// Draws what the p-view says, from the tables embedded in the page. Texts from data only ever become text nodes.
"use strict";

const pview = JSON.parse(document.getElementById("tables").textContent);
const ALL = -1;
const [GREEN, FAINT, INK] = ["#2f6f5e", "#d9dfda", "#22302b"];
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const rounded = (number) => Math.round(number).toLocaleString("en");

// What nobody can see, such as a sign that turns the writing direction, is a dot.
const visible = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "·");

function added(parent, name, attributes = {}, text = "") {
  const node = parent.namespaceURI === SVG || name === "svg"
    ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== "") node.textContent = visible(text);
  parent.appendChild(node);
  return node;
}

const shortened = (text, letters) => (text.length <= letters ? text : text.slice(0, letters - 1) + "…");

// -- Pictures ---------------------------------------------------------------------------------------

function frame(width, height) {
  const place = byId("picture");
  place.replaceChildren();
  return added(place, "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
}

// Labels are level where all fit, and else lean, with some left out where they would run into each other.
function below(svg, labels, left, step, y) {
  const longest = Math.max(...labels.map((label) => Math.min(label.length, 18)));
  const level = 6 * (longest + 1) <= step, every = level ? 1 : Math.ceil(34 / step);
  labels.forEach((label, i) => {
    if (i % every) return;
    const x = left + (i + (level ? 0.5 : 0.4)) * step;
    const place = level ? { "text-anchor": "middle" } : { transform: `rotate(28 ${x} ${y})` };
    added(svg, "text", { x, y, ...place }, shortened(label, 18));
  });
}

function roundStep(highest) {
  const power = 10 ** Math.floor(Math.log10(highest));
  return [0.2, 0.5, 1, 2].map((f) => f * power).find((step) => highest <= 5 * step * (1 + 1e-9));
}

function drawBars(one) {
  const { labels, counts, lows, highs } = one.bars;
  const [left, top, height] = [70, 10, 260], step = Math.min(60, 820 / labels.length);
  const svg = frame(left + step * labels.length + 90, top + height + 80);
  const highest = Math.max(1, ...counts, ...highs.filter((high) => high <= 2 * Math.max(...counts)));
  const tick = roundStep(highest), end = tick * Math.ceil(highest / tick - 1e-9);
  const up = (value) => top + height * (1 - Math.min(value, end) / end);
  const line = (x1, y1, x2, y2, stroke) => added(svg, "line", { x1, y1, x2, y2, stroke });
  for (let i = 0; i * tick <= end * (1 + 1e-9); i++) {
    line(left, up(i * tick), left + step * labels.length, up(i * tick), i ? FAINT : INK);
    added(svg, "text", { x: left - 6, y: up(i * tick) + 4, "text-anchor": "end", class: "axis" }, rounded(i * tick));
  }
  labels.forEach((label, i) => {
    const x = left + i * step, middle = x + step / 2, cap = Math.min(4, step / 4);
    const bar = added(svg, "rect", { x: x + step * 0.1, y: up(counts[i]), width: step * 0.8, height: top + height - up(counts[i]), fill: GREEN, "fill-opacity": 0.65 });
    added(bar, "title", {}, `${label}: ${rounded(counts[i])} (95%: ${rounded(lows[i])} to ${rounded(highs[i])})`);
    line(middle, up(lows[i]), middle, up(highs[i]), INK);
    for (const limit of [lows[i], highs[i]]) if (limit <= end) line(middle - cap, up(limit), middle + cap, up(limit), INK);
  });
  below(svg, labels, left, step, top + height + 14);
}

function drawShades(a, b, table) {
  const [left, top, side] = [150, 6, 460];
  const [rows, columns] = [a.cells.labels, b.cells.labels];
  const svg = frame(left + side + 150, top + side + 70);
  const tall = side / rows.length, wide = side / columns.length;
  const fullest = Math.max(1e-9, ...table.flat());
  table.forEach((row, i) => row.forEach((count, j) => {
    const cell = added(svg, "rect", { x: left + j * wide, y: top + i * tall, width: wide, height: tall, fill: GREEN, "shape-rendering": "crispEdges", "fill-opacity": Math.sqrt(Math.max(count, 0) / fullest).toFixed(3) });
    added(cell, "title", {}, `${a.name} ${rows[i]}, ${b.name} ${columns[j]}: ${rounded(count)}`);
  }));
  added(svg, "rect", { x: left, y: top, width: side, height: side, fill: "none", stroke: FAINT });
  const every = Math.ceil(rows.length / 20);
  rows.forEach((label, i) => {
    if (i % every === 0) added(svg, "text", { x: left - 6, y: top + (i + 0.5) * tall + 4, "text-anchor": "end" }, shortened(label, 22));
  });
  below(svg, columns, left, wide, top + side + 14);
  [1, 0.25, 0.01].forEach((part, i) => {
    added(svg, "rect", { x: left + side + 20, y: top + i * 22, width: 16, height: 16, fill: GREEN, "fill-opacity": Math.sqrt(part) });
    added(svg, "text", { x: left + side + 42, y: top + i * 22 + 12, class: "axis" }, rounded(part * fullest));
  });
}

// -- Counting ---------------------------------------------------------------------------------------

// Which groups of an attribute are asked for, by what is chosen in the form.
function chosenGroups(place) {
  const box = byId(`ask-${place}`);
  const picked = (node) => [...node.selectedOptions].map((option) => Number(option.value));
  if (box.dataset.kind === "set") return picked(box.querySelector("select"));
  const [from, to] = [...box.querySelectorAll("select")].map((node) => picked(node)[0]);
  const range = [];
  for (let i = from; i <= to; i++) range.push(i);
  const missing = box.querySelector("input");
  return missing && missing.checked ? [...range, Number(missing.value)] : range;
}

const column = (name) => `"${name.replaceAll('"', '""')}"`;

function condition(one, groups, chosen) {
  const name = column(one.name), parts = [];
  if (chosen.length === groups.labels.length) return "";
  const real = chosen.filter((i) => groups.values[i] !== null);
  if (real.length && one.ordered) {
    const first = groups.values[real[0]][0], last = groups.values[real.at(-1)][1];
    parts.push(one.half_open ? `${name} >= ${first} AND ${name} < ${last}` : `${name} BETWEEN ${first} AND ${last}`);
  } else if (real.length) {
    parts.push(`${name} IN (${real.flatMap((i) => groups.values[i]).join(", ")})`);
  }
  if (real.length < chosen.length) parts.push(`${name} IS NULL`);
  return parts.length > 1 ? `(${parts.join(" OR ")})` : parts[0] || "";
}

function answer() {
  const [a, b, table] = state(), one = pview.attributes[a], other = pview.attributes[b];
  const groups = other ? [one.cells, other.cells] : [one.bars];
  const chosen = groups.map((_, place) => chosenGroups(place));
  const output = byId("answer");
  if (chosen.some((some) => !some.length)) {
    output.textContent = "Nothing is chosen: the range ends before it begins, or no value is marked.";
    byId("sql").textContent = "";
    return;
  }
  const count = other
    ? chosen[0].reduce((sum, i) => sum + chosen[1].reduce((part, j) => part + table[i][j], 0), 0)
    : chosen[0].reduce((sum, i) => sum + one.bars.counts[i], 0);
  output.textContent = `About ${rounded(count)} records of ${rounded(pview.total)}.`;
  if (!other && chosen[0].length === 1) {
    const [i] = chosen[0];
    output.textContent += ` 95% interval: ${rounded(one.bars.lows[i])} to ${rounded(one.bars.highs[i])}.`;
  }
  const where = groups.map((own, place) => condition([one, other][place], own, chosen[place])).filter(Boolean);
  byId("sql").textContent = "SELECT COUNT(*) FROM view" + (where.length ? ` WHERE ${where.join(" AND ")}` : "");
}

function question(place, one, groups) {
  const box = added(byId("asked"), "fieldset", { id: `ask-${place}`, "data-kind": one.ordered ? "range" : "set" });
  added(box, "legend", {}, one.name);
  const real = groups.labels.map((_, i) => i).filter((i) => groups.values[i] !== null);
  const options = (select, some) => some.forEach((i) => added(select, "option", { value: i }, groups.labels[i]));
  if (one.ordered) {
    ["from", "to"].forEach((word) => {
      const label = added(box, "label", {}, `${word} `), select = added(label, "select");
      options(select, real);
      select.value = word === "from" ? real[0] : real.at(-1);
    });
    if (real.length < groups.labels.length) {
      const label = added(box, "label");
      added(label, "input", { type: "checkbox", value: groups.labels.length - 1 }).checked = true;
      label.append(" or missing");
    }
  } else {
    const select = added(box, "select", { multiple: "", size: Math.min(8, groups.labels.length) });
    options(select, groups.labels.map((_, i) => i));
    for (const option of select.options) option.selected = true;
  }
  box.addEventListener("change", answer);
}

// -- Choosing ---------------------------------------------------------------------------------------

// The chosen attributes (the first drawn as rows), and their table if there are two.
function state() {
  const [a, b] = ["first", "second"].map((id) => Number(byId(id).value));
  if (b === ALL || a === b) return [a, ALL, null];
  const pair = pview.pairs[`${Math.min(a, b)} ${Math.max(a, b)}`];
  return pair ? [Math.min(a, b), Math.max(a, b), pair.counts] : [a, ALL, null];
}

function draw() {
  const [a, b, table] = state(), one = pview.attributes[a], other = pview.attributes[b];
  byId("asked").replaceChildren();
  if (other) {
    drawShades(one, other, table);
    const off = pview.pairs[`${a} ${b}`].off;
    byId("note").textContent = visible(`Rows: ${one.name}; columns: ${other.name}.`) + ` The darker, the more records. ` +
      `95% intervals of the fullest cells reach about ${rounded(off)} to either side.`;
    [[one, one.cells], [other, other.cells]].forEach(([own, groups], place) => question(place, own, groups));
  } else {
    drawBars(one);
    byId("note").textContent = "Bars: what the p-view says. Lines: 95% intervals; one without an end bar goes on beyond the picture.";
    question(0, one, one.bars);
  }
  answer();
}

function start() {
  const wanted = location.hash.slice(1).split("&").map(decodeURIComponent);
  const place = (name) => pview.attributes.findIndex((one) => one.name === name);
  added(byId("second"), "option", { value: ALL }, "(none)");
  pview.attributes.forEach((one, i) => {
    added(byId("first"), "option", { value: i }, one.name);
    if (pview.paired > i) added(byId("second"), "option", { value: i }, one.name);
  });
  byId("first").value = Math.max(place(wanted[0]), 0);
  byId("second").value = wanted.length > 1 ? place(wanted[1]) : ALL;
  if (byId("second").value === "") byId("second").value = ALL;
  const choose = () => {
    const names = state().slice(0, 2).filter((i) => i !== ALL).map((i) => encodeURIComponent(pview.attributes[i].name));
    history.replaceState(null, "", `#${names.join("&")}`);
    draw();
  };
  for (const id of ["first", "second"]) byId(id).addEventListener("change", choose);
  draw();
}

start();
