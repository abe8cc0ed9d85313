/** A title as a valid file name on any system. */
export function fileName(title: string): string {
  return (
    title
      .replaceAll(/[\p{Cc}\s<>:"/\\|?*]+/gu, " ")
      .trim()
      .slice(0, 120) || "recording"
  );
}
