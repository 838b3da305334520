// One model's answer: its tags, and the steps that led to them.

const fill = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const percent = (share) => (share >= 0.9995 ? "100 %" : share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);
const END = "end";

function write(element, label, share) {
  element.querySelector(".label").textContent = label ?? END;
  element.querySelector(".score").textContent = percent(share);
  element.querySelector(".meter i").style.setProperty("--share", Math.max(0.004, share));
}

/** `look(tag)` shows a tag's map and `look(null)` takes it away; `pin(tag, button)` keeps it. */
export function showResult(answer, { look, pin, only }) {
  const card = fill("result-template"), { tags, steps } = answer.images[0];
  card.querySelector(".model").textContent = answer.model;
  card.querySelector(".none").hidden = tags.length > 0;
  card.querySelector(".tags").append(...tags.map((tag, i) => showTag(tag, i, { look, pin, only })));
  card.querySelector(".tags").addEventListener("keydown", walk);
  card.querySelector(".reason").textContent = steps?.length
    ? "At every step the model writes the label it finds most probable, given those before it. Below each: what came next in line."
    : "This model does not write one label after another: it judges each by itself, and the highest score stands first.";
  const seen = new Set();
  card.querySelector(".steps").append(...(steps ?? []).map((step) => showStep(step, seen)));
  return card;
}

function showTag(tag, place, { look, pin, only }) {
  const item = fill("tag-template"), button = item.querySelector("button");
  write(item, tag.label, tag.score);
  item.querySelector(".rank").textContent = place + 1;
  item.style.setProperty("--place", place);
  item.classList.toggle("only-here", only(tag.label));
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("mouseenter", () => look(tag));
  button.addEventListener("mouseleave", () => look(null));
  button.addEventListener("focus", () => button.matches(":focus-visible") && look(tag));
  button.addEventListener("blur", () => look(null));
  button.addEventListener("click", () => pin(tag, button));
  return item;
}

function showStep(step, seen) {
  const item = fill("step-template");
  write(item, step.label, step.probability);
  item.classList.toggle("end", step.label === null);
  if (seen.has(step.label)) item.querySelector(".score").textContent += " · again, dropped";
  seen.add(step.label);
  item.querySelector(".others").append(...step.runners_up.map((other) => {
    const line = fill("other-template");
    write(line, other.label, other.probability);
    line.classList.toggle("end", other.label === null);
    return line;
  }));
  return item;
}

/** Arrow keys walk through the tags. */
function walk(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!steps) return;
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  buttons[buttons.indexOf(document.activeElement) + steps]?.focus();
  event.preventDefault();
}
