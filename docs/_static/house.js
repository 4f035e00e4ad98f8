// What the theme does not name for screen readers.
for (const button of document.querySelectorAll(".search-button-field")) {
  button.removeAttribute("aria-label"); // its text says more
}
for (const toggle of document.querySelectorAll("details > summary:has(> .toctree-toggle)")) {
  const link = toggle.closest("li").querySelector("a");
  toggle.setAttribute("aria-label", `Pages below ${link.textContent.trim()}`);
}
