/** Characters of one cue: the longest text of a segment, with a timestamp before each of its words. */
export const maxCueCharacters = 200_000;

/** The lines of a file. CR CR LF, which some programs write, ends one line. */
export function* linesIn(file: string): Generator<{ text: string; number: number; at: number }> {
  const lineEnd = /\r{0,2}\n|\r/g;
  let number = 0;
  for (let from = 0; from < file.length; ) {
    lineEnd.lastIndex = from;
    const end = lineEnd.exec(file);
    const text = file.slice(from, end?.index);
    number += 1;
    yield { text: text.startsWith("\uFEFF") ? text.slice(1) : text, number, at: from };
    from = end === null ? file.length : lineEnd.lastIndex;
  }
}
