// The search of the documents. Its index was written when the site was built.
"use strict";
(() => {
  const home = new URL(".", document.currentScript.src);
  const field = document.getElementById("query");
  const found = document.getElementById("found");
  const text = document.getElementById("text");
  const shown = 30; // results
  let index = null;

  const element = (name, ...inside) => { const e = document.createElement(name); e.append(...inside); return e; };

  // marked is a text in which the words stand out.
  const marked = (text, words) => {
    const escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text.split(new RegExp(`(${escaped.join("|")})`, "i")).map((part, i) => (i % 2 ? element("mark", part) : part));
  };

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word));
    const from = at < 80 ? 0 : text.indexOf(" ", at - 80) + 1;
    return (from > 0 ? "… " : "") + text.slice(from, from + 240) + (from + 240 < text.length ? " …" : "");
  };

  const search = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    text.hidden = !found.hidden;
    if (found.hidden) return;
    index = index || fetch(new URL("index.json", home)).then((r) => r.json());
    const asked = field.value;
    const sections = await index;
    if (asked !== field.value) return;
    // A word counts most in a heading, less in the title of the page, in the text, and least elsewhere on the page; words side by side count more.
    const phrase = words.join(" ");
    const said = (s) => s.Text.toLowerCase().includes(phrase);
    const pages = new Map();
    for (const s of sections) pages.set(s.Page, `${pages.get(s.Page) || s.Title} ${s.Heading} ${s.Text}`.toLowerCase());
    const rate = (s) => {
      const [heading, title, text, page] = [s.Heading, s.Title, s.Text, pages.get(s.Page)].map((part) => words.filter((w) => part.toLowerCase().includes(w)).length);
      const side = heading === words.length ? (s.Heading === s.Title ? 40 : 30) : words.length > 1 && said(s) ? 20 : 0;
      return heading + title + text > 0 ? 8 * heading + 3 * title + 2 * text + page + side : 0;
    };
    const hits = sections.map((s) => ({ s, score: rate(s) })).filter((r) => r.score > 0).sort((a, b) => b.score - a.score).map((r) => r.s);
    found.querySelector("p").textContent = hits.length === 0 ? "Nothing was found." : hits.length > shown ? `The first ${shown} of ${hits.length} parts:` : `${hits.length} part${hits.length === 1 ? "" : "s"}:`;
    found.querySelector("ol").replaceChildren(...hits.slice(0, shown).map((s) => {
      const link = element("a", ...marked(s.Title === s.Heading ? s.Title : `${s.Title} › ${s.Heading}`, words));
      link.href = new URL(`${s.Page}#${s.ID}`, home);
      link.addEventListener("click", () => { field.value = ""; search(); }); // the link may lead to this page
      const word = said(s) ? phrase : words.find((w) => s.Text.toLowerCase().includes(w)) || "";
      return element("li", link, element("p", ...marked(excerpt(s.Text, word), words)));
    }));
  };

  field.form.hidden = false;
  field.form.addEventListener("submit", (e) => e.preventDefault());
  field.addEventListener("input", search);
  field.addEventListener("keydown", (e) => { if (e.key === "Escape") { field.value = ""; search(); } });
  addEventListener("keydown", (e) => {
    if (e.key === "/" && document.activeElement !== field) { e.preventDefault(); field.focus(); }
  });
})();
