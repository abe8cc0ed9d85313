/**
 * The header by which a file is offered under a name (RFC 6266): in ASCII for old clients, and as it is (RFC 8187).
 * @param fileName without one, the object is shown in place.
 */
export function contentDisposition(fileName: string | undefined): string {
  if (fileName === undefined) return "inline";
  const name = fileName.toWellFormed();
  // Quote, backslash and percent are read in different ways by clients, so they do not go into the fallback.
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
