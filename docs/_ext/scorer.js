// Ranks search results: pages whose title holds all that was typed come first, guides before results and changes.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const typed = new URLSearchParams(window.location.search).get("q") || "";
    const lower = title.toLowerCase();
    const named = lower.includes(typed.trim().toLowerCase()) ? 10 : 0;
    const guide = /^(start-here|without-code|large-data|guide\/)/.test(docname) ? 5 : 0;
    const aside = /^(changelog|contributing\/)/.test(docname) ? -10 : 0;
    return score + named + guide + aside;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
