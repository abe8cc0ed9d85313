/** Writes down how wide the browser's scrollbars are, for app.css; those that lie above the page take no room. */
export function measureScrollbar(): void {
  const box = document.createElement("div");
  box.style.cssText = "position: absolute; visibility: hidden; width: 100px; height: 100px; overflow: scroll";
  document.body.append(box);
  document.documentElement.style.setProperty("--scrollbar-width", `${box.offsetWidth - box.clientWidth}px`);
  box.remove();
}
