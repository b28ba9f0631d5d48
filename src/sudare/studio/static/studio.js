// What pages do by themselves: follow work, move sliders, show previews, take files. Everything else are links and forms.
"use strict";

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

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
  location.replace(location.href.split("#")[0]);
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
}

// -- Live previews -----------------------------------------------------------------------------------

function previews(form) {
  const place = document.getElementById("preview"), status = document.querySelector(".previewed .status");
  let running = null, timer = null;

  async function ask(changes, shown) {
    const fields = new URLSearchParams(new FormData(form));
    for (const [name, value] of Object.entries(changes)) {
      if (value === "") fields.delete(name); else fields.set(name, value);
    }
    running?.abort();
    const mine = (running = new AbortController());
    if (shown) status.textContent = status.dataset.busy;
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: fields, signal: mine.signal });
      if (answer.status !== 204) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        place.replaceChildren(...page.body.childNodes);
      }
      status.textContent = "";
      return answer.ok && answer.status !== 204;
    } catch {
      if (mine === running) status.textContent = "";
      return false;
    }
  }

  async function now() {
    if ((await ask({}, true)) && (!form.dataset.bound || (await ask({ bound: "1" }, false)))) form.dispatchEvent(new Event("previewed"));
  }

  async function begin() {
    if (!(await ask({}, true))) return;
    if (Number(form.dataset.tried) < 3) {
      for (const fields of JSON.parse(form.dataset.ladder)) {
        if (!(await ask(fields, false))) return;
        if (form.dataset.bound && !(await ask({ ...fields, bound: "1" }, false))) return;
      }
    }
    await now();
  }

  form.addEventListener("change", () => {
    clearTimeout(timer);
    timer = setTimeout(now, 150);
  });
  begin();
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
