// The page: takes a photo, asks the service, shows tags. Whatever comes from the service enters as text, never as HTML.

import { ask, askExample, askModels, useToken } from "./ask.js";
import { drawHeat } from "./heat.js";
import { showResult } from "./result.js";

const $ = (id) => document.getElementById(id);
const HEAT_SIZE = 480; // pixels of the longer side: the map is smooth, the browser may stretch it
const NARROW = matchMedia("(max-width: 52rem)"); // as in page.css
const EVERY = "every model"; // the value of the switch's last choice

let models = [];
let limits = null;
let photo = null; // the file that is shown
let answers = []; // of the service, one a model
const names = new WeakMap(); // tag -> what it is called under the photo
let pinned = null; // the tag whose map stays
let running = null; // the request on its way, to be called off by the next

async function start() {
  try {
    const served = await askModels();
    models = served.models.map((model) => model.name);
    limits = served.limits;
    const names = models.length === 1 ? models[0] : `${models.length} models`;
    const counts = [...new Set(served.models.map((model) => model.labels))].join(" and ");
    $("about").textContent = `${names}, ${counts} ${counts === "1" ? "label" : "labels"} · orderless ${served.version}`;
    showSwitch();
    $("error").hidden = $("token-form").hidden = true;
  } catch (problem) {
    showProblem(problem);
  }
}

function showSwitch() {
  const choices = models.length > 1 ? [...models, EVERY] : [];
  $("switch").hidden = !choices.length;
  $("switch").querySelectorAll("label").forEach((label) => label.remove());
  choices.forEach((choice, i) => {
    const label = document.createElement("label"), input = document.createElement("input"), text = document.createElement("span");
    Object.assign(input, { type: "radio", name: "model", value: choice, checked: i === 0 });
    text.textContent = choice === EVERY ? "side by side" : choice;
    label.append(input, text);
    input.addEventListener("change", tagPhoto);
    $("switch").append(label);
  });
}

function chosenModels() {
  const choice = document.querySelector("#switch input:checked")?.value;
  return !choice ? [undefined] : choice === EVERY ? models : [choice];
}

function takePhoto(file, example) {
  if (!file) return;
  document.querySelectorAll(".examples button").forEach((button) =>
    button.setAttribute("aria-pressed", String(button.dataset.example === example)));
  photo = file;
  forgetAnswers();
  URL.revokeObjectURL($("photo").src);
  $("photo").src = URL.createObjectURL(file);
  $("photo").alt = example ? `The example: ${example}` : `The photo ${file.name}`;
  $("stage").classList.add("full");
  $("invitation").hidden = $("cannot").hidden = true;
  $("picture").hidden = $("hint").hidden = false;
  placeExamples();
  tagPhoto();
}

async function takeExample(name) {
  try {
    takePhoto(await askExample(name), name);
  } catch (problem) {
    showProblem(problem); // a photo that is shown stays, with its tags
  }
}

/** Under the photo; where one column has a photo and tags, under the tags. Moved and not just drawn there, so that Tab
 * goes the way the eye goes. */
function placeExamples() {
  const place = NARROW.matches && photo ? $("main") : $("left"), focused = document.activeElement;
  if ($("tries").parentElement === place) return;
  place.append($("tries"));
  if ($("tries").contains(focused)) focused.focus({ preventScroll: true }); // what moves loses the focus
}

async function tagPhoto() {
  if (!photo) return;
  running?.abort();
  const mine = (running = new AbortController());
  forgetAnswers();
  if (limits && photo.size > limits.max_upload_mb * 1e6) {
    showProblem(new Error(`the file has ${(photo.size / 1e6).toFixed(1)} MB, the limit is ${limits.max_upload_mb} MB`));
    return;
  }
  $("stage").classList.add("working");
  say("Looking at the photo …");
  try {
    const found = await Promise.all(chosenModels().map((model) => ask(photo, model, mine.signal, say)));
    if (mine.signal.aborted) return;
    showAnswers(found);
  } catch (problem) {
    if (mine.signal.aborted) return;
    mine.abort(); // one model has failed: the other need not go on
    showProblem(problem);
  } finally {
    if (running === mine) $("stage").classList.remove("working");
  }
}

function showAnswers(found) {
  answers = found;
  const labels = found.map((answer) => answer.images[0].tags.map((tag) => tag.label));
  $("results").classList.toggle("pair", found.length > 1);
  $("results").replaceChildren(...found.map((answer, i) => {
    const others = new Set(labels.flatMap((list, k) => (k === i ? [] : list)));
    const several = found.length > 1;
    answer.images[0].tags.forEach((tag) => names.set(tag, several ? `“${tag.label}”, ${answer.model}` : `“${tag.label}”`));
    return showResult(answer, { look, pin, only: (label) => several && !others.has(label) });
  }));
  $("empty").hidden = $("token-form").hidden = true;
  $("copy").hidden = false;
  say(found.map((answer, i) => `${answer.model}: ${labels[i].join(", ") || "no tag"}.`).join(" "));
}

function forgetAnswers() {
  answers = [];
  pinned = null;
  look(null);
  $("results").replaceChildren();
  $("error").hidden = $("copy").hidden = true;
  $("empty").hidden = false;
}

/** Show where the model looked for a tag; null: the pinned tag's map, or none. */
function look(tag) {
  const shown = tag ?? pinned?.tag;
  const image = $("photo");
  const visible = Boolean(shown?.attention && image.naturalWidth && !$("picture").hidden);
  if (visible) {
    const scale = HEAT_SIZE / Math.max(image.naturalWidth, image.naturalHeight);
    const side = (length) => Math.max(1, Math.round(length * scale));
    drawHeat($("heat"), shown.attention, side(image.naturalWidth), side(image.naturalHeight));
    $("legend-text").textContent = `Where it looked for ${names.get(shown)}`;
  }
  $("stage").classList.toggle("looking", visible);
  $("legend").hidden = !visible;
  $("hint").hidden = visible || !photo;
}

function pin(tag, button) {
  const same = pinned?.button === button;
  pinned?.button.setAttribute("aria-pressed", "false");
  pinned = same ? null : { tag, button };
  button.setAttribute("aria-pressed", String(!same));
  look(same ? null : tag);
}

function showProblem(problem) {
  const text = problem.message || String(problem);
  $("error").textContent = text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
  $("error").hidden = false;
  $("empty").hidden = true;
  say("");
  $("error").scrollIntoView({ block: "nearest" }); // in a narrow window it stands below what was clicked
  if (problem.status === 401) {
    $("token-form").hidden = false; // until a token has worked
    $("token").focus();
  }
}

function say(text) {
  $("status").textContent = text;
}

async function copyAnswers() {
  const text = JSON.stringify(answers.length === 1 ? answers[0] : answers, null, 1);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // where the clipboard is closed to pages: no https, no permission
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  $("copy").textContent = "Copied";
  say("Copied as JSON");
  setTimeout(() => ($("copy").textContent = "Copy as JSON"), 1600);
}

$("file").addEventListener("change", () => {
  takePhoto($("file").files[0]);
  $("file").value = ""; // the same file may be chosen again
});
$("photo").addEventListener("load", () =>
  $("picture").style.setProperty("--ratio", Math.min(8, Math.max(1 / 8, $("photo").naturalWidth / $("photo").naturalHeight))));
$("photo").addEventListener("error", () => {
  $("picture").hidden = true;
  $("cannot").hidden = false;
});
document.querySelectorAll(".examples button").forEach((button) =>
  button.addEventListener("click", () => takeExample(button.dataset.example)));
NARROW.addEventListener("change", placeExamples);
addEventListener("dragover", (event) => {
  event.preventDefault();
  $("stage").classList.add("over");
});
addEventListener("dragleave", (event) => event.relatedTarget || $("stage").classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  $("stage").classList.remove("over");
  takePhoto(event.dataTransfer.files[0]);
});
addEventListener("paste", (event) => takePhoto([...event.clipboardData.files][0]));
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pinned) pin(pinned.tag, pinned.button);
});
$("copy").addEventListener("click", copyAnswers);
$("token-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  useToken($("token").value);
  $("error").hidden = true; // so that the same sentence again is seen, and heard, as a new answer
  await start();
  tagPhoto();
});
start();
