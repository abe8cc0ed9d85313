/**
 * The header that offers a file under a name (RFC 6266): in ASCII for old clients, and unchanged (RFC 8187).
 * @param fileName without one, the object is displayed inline.
 */
export function contentDisposition(fileName: string | undefined): string {
  if (fileName === undefined) return "inline";
  const name = fileName.toWellFormed();
  // Clients interpret quote, backslash and percent differently, so the fallback contains none.
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
