document.documentElement.classList.add("js");
const themes = ["auto", "light", "dark"], button = document.getElementById("theme");
const shown = theme => {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[theme];
  button.setAttribute("aria-label", "Colours: " + theme + "; change");
  button.value = theme;
};
shown("auto");
button.addEventListener("click", () => shown(themes[(themes.indexOf(button.value) + 1) % 3]));

const value = cell => {
  const text = cell.textContent.trim();
  if (!cell.classList.contains("number")) return text.toLowerCase();
  return text === "–" || text === "" ? NaN : parseFloat(text.replace(/,/g, "").replace("−", "-"));
};
const { compare } = new Intl.Collator("en", { numeric: true });
const order = (x, y) => typeof x === "string" ? compare(x, y) : x - y;
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.tHead.querySelectorAll("th").forEach((heading, k) => {
    if (!heading.hasAttribute("aria-sort")) return;
    const click = document.createElement("button");
    click.type = "button";
    click.append(...heading.childNodes);
    heading.append(click);
    click.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const falling = before === "none" ? heading.classList.contains("number")
        : before === "ascending";
      table.querySelectorAll("th[aria-sort]").forEach(h => h.setAttribute("aria-sort", "none"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const keyed = [...body.rows].map(row => [value(row.cells[k]), row]);
      const without = x => typeof x === "number" && isNaN(x);
      keyed.sort(([x], [y]) => without(x) - without(y) || order(x, y) * (falling ? -1 : 1) || 0);
      body.remove();
      body.replaceChildren(...keyed.map(([, row]) => row));
      table.append(body);
    });
  });
}
for (const input of document.querySelectorAll("input[data-filters]")) {
  const body = document.getElementById(input.dataset.filters).tBodies[0];
  const count = document.getElementById(input.dataset.filters + "-count");
  const filter = () => {
    const wanted = input.value.toLowerCase();
    let left = 0;
    for (const row of body.rows) {
      row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
      left += !row.hidden;
    }
    count.textContent = left.toLocaleString("en") + " of " + body.rows.length.toLocaleString("en");
  };
  input.addEventListener("input", filter);
  filter();
}
