/** Sets `--scrollbar-width` for app.css: 0 where scrollbars overlay the page. */
export function measureScrollbar(): void {
  const box = document.createElement("div");
  box.style.cssText = "position: absolute; visibility: hidden; width: 100px; height: 100px; overflow: scroll";
  document.body.append(box);
  document.documentElement.style.setProperty("--scrollbar-width", `${box.offsetWidth - box.clientWidth}px`);
  box.remove();
}
