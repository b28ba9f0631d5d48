// The editor of a hierarchy: values and groups are dragged into groups, or moved there by a list. Texts from data only ever become text nodes.
"use strict";

const byId = (id) => document.getElementById(id);
const root = byId("tree"), form = byId("column"), field = byId("tree-field");

// -- Which settings belong to the chosen kind --------------------------------------------------------

function showKind() {
  const kind = form.elements.kind.value;
  for (const part of form.querySelectorAll("[data-kinds]")) part.hidden = !part.dataset.kinds.split(" ").includes(kind);
}
form.addEventListener("change", showKind);
showKind();

async function readFile() {
  const [file] = byId("arx-file").files;
  if (!file) return;
  form.elements.arx.value = await file.text();
  soon();
}
byId("arx-file")?.addEventListener("change", readFile);

// -- The tree ----------------------------------------------------------------------------------------

const texts = root ? JSON.parse(root.dataset.texts) : {};
const weights = root ? JSON.parse(root.dataset.weights) : {};
const top_ = { name: null, children: [], values: [] };
let changed = false, dragged = null, inOrder = 5;

// A row is a value, what is above it, ..., and the root.
function grown(rows) {
  for (const row of rows) {
    let place = top_;
    const above = row.slice(1, -1).reverse();
    let last = null;
    for (const name of above) {
      if (name === last || name === row[0]) continue;
      last = name;
      let next = place.children.find((one) => one.name === name);
      if (!next) place.children.push((next = { name, children: [], values: [], above: place }));
      place = next;
    }
    place.values.push(row[0]);
  }
}

function groups(place = top_, depth = 0, found = [[top_, texts.top]]) {
  for (const one of place.children) {
    found.push([one, "· ".repeat(depth) + one.name]);
    groups(one, depth + 1, found);
  }
  return found;
}

const inside = (place, other) => place !== undefined && (place === other || inside(place.above, other));

function move(what, to) {
  if (what.group) {
    if (inside(to, what.group)) return;
    what.group.above.children.splice(what.group.above.children.indexOf(what.group), 1);
    what.group.above = to;
    to.children.push(what.group);
  } else {
    what.from.values.splice(what.from.values.indexOf(what.value), 1);
    to.values.push(what.value);
  }
  byId("tree-status").textContent = `${what.group ? what.group.name : what.value} ${texts.moved} ${to.name ?? texts.top}`;
  touched();
}

function touched() {
  changed = true;
  draw();
  soon();
}

function added(parent, name, text = "", attributes = {}) {
  const node = document.createElement(name);
  if (text !== "") node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.appendChild(node);
  return node;
}

function movable(item, what, label) {
  item.draggable = true;
  item.addEventListener("dragstart", (event) => { dragged = what; event.stopPropagation(); event.dataTransfer.setData("text/plain", label); });
  const list = added(item, "select", "", { "aria-label": `${texts.move}: ${label}` });
  added(list, "option", `${texts.move} …`);
  let places = [];
  const fill = () => { // only when it is wanted: every list has every group
    if (list.length > 1) return;
    places = groups().filter(([one]) => !(what.group && inside(one, what.group)));
    for (const [, name] of places) added(list, "option", name);
  };
  list.addEventListener("focus", fill);
  list.addEventListener("pointerdown", fill);
  list.addEventListener("change", (event) => {
    event.stopPropagation();
    if (list.selectedIndex > 0) move(what, places[list.selectedIndex - 1][0]);
  });
}

function target(node, place) {
  node.addEventListener("dragover", (event) => { event.preventDefault(); event.stopPropagation(); node.classList.add("over"); });
  node.addEventListener("dragleave", () => node.classList.remove("over"));
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    if (dragged) move(dragged, place);
    dragged = null;
  });
}

function drawn(place, parent) {
  const list = added(parent, "ul");
  target(list, place);
  for (const one of place.children) {
    const item = added(list, "li"), head = added(item, "span", "", { class: "node" });
    const name = added(head, "input", "", { "aria-label": texts.name, size: Math.max(6, one.name.length) });
    name.value = one.name;
    name.addEventListener("change", (event) => { event.stopPropagation(); one.name = name.value || one.name; touched(); });
    movable(head, { group: one }, one.name);
    const remove = added(head, "button", texts.remove, { type: "button", "aria-label": `${texts.remove}: ${one.name}` });
    remove.addEventListener("click", () => {
      place.children.splice(place.children.indexOf(one), 1, ...one.children);
      for (const child of one.children) child.above = place;
      place.values.push(...one.values);
      touched();
    });
    drawn(one, item);
  }
  for (const value of place.values) {
    const item = added(list, "li"), leaf = added(item, "span", "", { class: "leaf" });
    added(leaf, "span", value);
    added(leaf, "small", (weights[value] ?? 0).toLocaleString());
    movable(leaf, { value, from: place }, value);
  }
}

function draw() {
  root.replaceChildren();
  drawn(top_, root);
  const more = added(root, "button", texts.add, { type: "button" });
  more.addEventListener("click", () => {
    let number = 1;
    while (groups().some(([one]) => one.name === `${texts.group} ${number}`)) number += 1;
    top_.children.push({ name: `${texts.group} ${number}`, children: [], values: [], above: top_ });
    touched();
  });
  const size = added(root, "input", "", { type: "number", min: 2, value: inOrder, size: 4, "aria-label": texts.each });
  size.addEventListener("change", (event) => { event.stopPropagation(); inOrder = Math.max(2, Math.floor(Number(size.value)) || 2); });
  added(root, "button", texts.order, { type: "button" }).addEventListener("click", groupNeighbours);
}

// Values, or groups where all values are in some already, are put together as they stand, so many at a time.
function groupNeighbours() {
  const groupsToo = !top_.values.length, what = groupsToo ? top_.children.splice(0) : top_.values.splice(0);
  const name = (one) => (groupsToo ? one.name : one);
  for (let first = 0; first < what.length; first += inOrder) {
    const some = what.slice(first, first + inOrder);
    const made = { name: `${name(some[0])} – ${name(some[some.length - 1])}`, children: groupsToo ? some : [], values: groupsToo ? [] : some, above: top_ };
    for (const one of made.children) one.above = made;
    top_.children.push(made);
  }
  touched();
}

// Groups become objects, and values lists; where a group has both, each value stands alone.
function nested(place) {
  if (!place.children.length) return place.values;
  const made = {};
  for (const one of place.children) if (one.children.length || one.values.length) made[one.name] = nested(one);
  for (const value of place.values) made[value] = [value];
  return made;
}

// -- What values become while a slider moves ---------------------------------------------------------

const levels = byId("levels");
let asking = null, waiting = null;

async function showLevels() {
  asking?.abort();
  const mine = (asking = new AbortController()), fields = new URLSearchParams(new FormData(form));
  if (root && changed) fields.set("tree", JSON.stringify(nested(top_)));
  try {
    const answer = await fetch(levels.dataset.levels, { method: "POST", body: fields, signal: mine.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine === asking) levels.replaceChildren(...page.body.childNodes);
  } catch {
    // another setting is wanted by now, or the studio was stopped
  }
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(showLevels, 60);
}
form.addEventListener("input", soon);
form.addEventListener("change", soon);
if ([...form.elements].some(isTouched)) soon(); // changed before this script ran, or kept by the browser from a visit before
if (byId("arx-file")) readFile();

if (root) {
  root.classList.add("tree");
  grown(JSON.parse(root.dataset.rows));
  draw();
  form.addEventListener("submit", () => {
    if (changed && form.elements.kind.value === "tree") field.value = JSON.stringify(nested(top_));
  });
}
