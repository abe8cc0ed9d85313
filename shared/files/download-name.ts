/** A title for the name of a file, whose extension isn't repeated: a recording `talk.mp4` is not `talk.mp4.mp4`. */
export function withoutExtension(title: string, format: string): string {
  const stem = title.trimEnd().slice(0, -format.length - 1);
  return title.trimEnd().toLowerCase() === `${stem.toLowerCase()}.${format}` && stem !== "" ? stem : title;
}
