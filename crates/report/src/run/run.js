"use strict";
const scenarios = [...document.querySelectorAll("details.scenario")];
const filters = document.getElementById("filters");

// The content of a scenario that passed is text, and is parsed when it is opened: a page of hundreds of scenarios opens at once.
// All texts of objects are escaped in it.
function fill(scenario) {
  const content = scenario.querySelector(":scope > script");
  if (content) content.outerHTML = content.textContent;
}

function open(scenario) {
  fill(scenario);
  scenario.open = true;
}

function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.matches("details.scenario")) {
    open(target);
    target.scrollIntoView();
  }
}

function matches(scenario) {
  return ["name", "outcome", "codes", "objects", "members"].every((field) => {
    const wanted = filters.elements[field].value.trim().toLowerCase();
    const value = scenario.dataset[field].toLowerCase();
    return field === "outcome" ? !wanted || value === wanted : value.includes(wanted);
  });
}

function filter() {
  let shown = 0;
  for (const scenario of scenarios) {
    scenario.hidden = !matches(scenario);
    shown += scenario.hidden ? 0 : 1;
  }
  for (const file of document.querySelectorAll("section.file")) {
    file.hidden = !file.querySelector("details.scenario:not([hidden])");
  }
  filters.elements.shown.textContent = `${shown} of ${scenarios.length} shown`;
}

function cell(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

// Shows all conditions that the object of a row had when the row's change happened.
function showMoment(row) {
  const [time, object] = [row.cells[0].textContent, row.cells[1].textContent];
  const states = new Map();
  for (const other of row.parentElement.rows) {
    if (other.cells[1].textContent === object) states.set(other.cells[2].textContent, other.cells[4]);
    if (other === row) break;
  }
  const table = document.createElement("table");
  for (const [condition, state] of states) {
    const line = table.insertRow();
    if (condition === row.cells[2].textContent) line.className = "selected";
    line.append(cell("th", condition), state.cloneNode(true));
  }
  const moment = row.closest("details.scenario").querySelector(".moment");
  moment.replaceChildren(cell("h4", `${object} at ${time}`), table);
  for (const selected of document.querySelectorAll("tr.selected[id]")) selected.classList.remove("selected");
  row.classList.add("selected");
  row.scrollIntoView({ block: "nearest" });
  moment.scrollIntoView({ block: "nearest" });
}

for (const scenario of scenarios) scenario.addEventListener("toggle", () => scenario.open && fill(scenario));
document.addEventListener("click", (event) => {
  const bar = event.target.closest("svg a");
  const row = bar && document.getElementById(bar.getAttribute("href").slice(1));
  if (!row) return;
  event.preventDefault();
  showMoment(row);
});
filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());
filters.hidden = false;
filter();
addEventListener("hashchange", follow);
follow();
