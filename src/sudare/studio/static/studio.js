// What pages do by themselves: follow work, move sliders, show previews, take files. Everything else are links and forms.
"use strict";

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Whether somebody has changed a field since the page came: also before this script ran, or in a visit before.
function isTouched(field) {
  if (field.type === "radio" || field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.type === "file") return field.files.length > 0;
  if (field.options) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected));
  return "defaultValue" in field && field.type !== "range" && field.value !== field.defaultValue;
}

// -- Work that is under way --------------------------------------------------------------------------

async function follow(place) {
  const bar = place.querySelector("progress"), amounts = place.querySelector(".amounts"), passed = place.querySelector(".passed"), left = place.querySelector(".left");
  for (;;) {
    await wait(350);
    let told;
    try {
      told = await (await fetch(place.dataset.job)).json();
    } catch {
      passed.textContent = "…"; // the studio was stopped; it goes on when it is there again
      await wait(1500);
      continue;
    }
    if (told.state !== "running") break;
    passed.textContent = told.passed;
    if (told.part === null) bar.removeAttribute("value"); else bar.value = told.part;
    amounts.textContent = told.words;
    left.textContent = told.left;
  }
  if ([...document.querySelectorAll("main [name]")].some(isTouched)) {
    place.replaceChildren(); // what was filled in meanwhile is not thrown away
    const again = document.createElement("a");
    again.href = location.href.split("#")[0];
    again.textContent = place.dataset.done;
    place.append(again);
  } else location.replace(location.href.split("#")[0]);
}

// -- Sliders and their numbers -----------------------------------------------------------------------

for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
  const number = document.getElementById(slider.dataset.for);
  slider.addEventListener("input", () => {
    number.value = slider.value;
    const box = slider.closest("fieldset")?.querySelector("legend input[type=checkbox]");
    if (box) box.checked = true;
    const radio = slider.closest("p")?.querySelector("input[type=radio]");
    if (radio) radio.checked = true;
    number.dispatchEvent(new Event("change", { bubbles: true }));
  });
  number.addEventListener("change", () => { if (number.value !== "") slider.value = number.value; });
  const still = slider.cloneNode();
  still.value = slider.defaultValue;
  if (slider.value !== still.value && number.value === number.defaultValue) slider.dispatchEvent(new Event("input", { bubbles: true })); // it was moved before this script ran
}

// -- Live previews -----------------------------------------------------------------------------------

function previews(form) {
  const place = document.getElementById("preview"), status = document.querySelector(".previewed .status");
  const ladder = Number(form.dataset.tried) < 3 ? JSON.parse(form.dataset.ladder) : [];
  let running = null, timer = null;

  // Ask for the picture with one more setting; what is said of the form's own setting stays, where another one is asked for.
  async function ask(changes, other) {
    const fields = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") fields.delete(name); else fields.set(name, value);
    }
    if (other) fields.set("other", "1");
    running?.abort();
    const mine = (running = new AbortController());
    if (!other) status.textContent = status.dataset.busy;
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: fields, signal: mine.signal });
      if (answer.status !== 204) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html").body;
        if (other) for (const one of page.querySelectorAll(".now, .problem")) one.remove();
        place.replaceChildren(...(other ? place.querySelectorAll(".now, .problem") : []), ...page.childNodes);
      }
      status.textContent = "";
      return answer.ok && answer.status !== 204;
    } catch {
      if (mine === running) status.textContent = "";
      return false;
    }
  }

  const bounded = async (fields, other) => !form.dataset.bound || ask({ ...fields, bound: "1" }, other);

  // The form's own setting first; then those that make a curve, which go on where a change of the form has stopped them.
  async function now() {
    if (!(await ask({}, false)) || !(await bounded({}, false)) || !ladder.length) return;
    while (ladder.length) {
      if (!(await ask(ladder[0], true)) || !(await bounded(ladder[0], true))) return;
      ladder.shift();
    }
    await ask({}, false);
  }

  form.addEventListener("change", () => {
    clearTimeout(timer);
    timer = setTimeout(now, 150);
  });
  now();
}

// -- Files -------------------------------------------------------------------------------------------

function uploads(form) {
  const field = form.querySelector("input[type=file]"), bar = form.querySelector("progress");
  const status = form.querySelector(".status"), drop = document.getElementById("drop");
  const send = (file) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/upload");
    request.setRequestHeader("x-name", encodeURIComponent(file.name));
    request.upload.addEventListener("progress", (event) => { bar.hidden = false; bar.value = event.loaded / event.total; });
    const failed = (text) => { status.textContent = `${form.dataset.failed} ${text}`; bar.hidden = true; };
    request.addEventListener("error", () => failed(""));
    request.addEventListener("load", () => {
      const said = JSON.parse(request.responseText || "{}");
      if (request.status === 200) location.href = said.to; else failed(said.error || "");
    });
    request.send(file);
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); if (field.files[0]) send(field.files[0]); });
  form.querySelector("button").disabled = false; // only a script can send a file
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]);
  });
}

for (const place of document.querySelectorAll("[data-job]")) follow(place);
for (const form of document.querySelectorAll("form[data-preview]")) previews(form);
const upload = document.getElementById("upload");
if (upload) uploads(upload);
