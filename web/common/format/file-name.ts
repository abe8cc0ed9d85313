const maxLength = 120;

/** A title as a valid file name on any system. */
export function fileName(title: string): string {
  const allowed = title.replaceAll(/[\p{Cc}\s<>:"/\\|?*]+/gu, " ").trim();
  // By code points, so that no emoji is cut in half.
  let name = Array.from(allowed).slice(0, maxLength).join("");
  // Windows can't extract folders whose names end so.
  while (name.endsWith(".") || name.endsWith(" ")) name = name.slice(0, -1);
  return name || "recording";
}
