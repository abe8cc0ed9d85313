import { splitSentence } from "../../contract/sentences.ts";
import { partsOf } from "./sentences.ts";

/** Text whose commands are in backticks. */
export function Words({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change places.
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}

/**
 * A text of the server: the app's own for each sentence that it knows; the rest stays English.
 * @param shown changes each of them before it is shown.
 */
export function ServerText({
  text,
  shown = (words) => words,
}: {
  text: string;
  shown?: (words: string) => string;
}) {
  const parts = partsOf(text);
  if (parts !== null) {
    const { before, reason, after } = parts;
    return (
      <>
        <Words text={shown(before)} />
        {reason === null ? null : <ServerText text={reason} shown={shown} />}
        <Words text={shown(after)} />
      </>
    );
  }
  const split = splitSentence(text);
  if (split === null)
    return (
      <span lang="en">
        <Words text={shown(text)} />
      </span>
    );
  const [before, after] = split;
  return (
    <>
      <ServerText text={before} shown={shown} /> <ServerText text={after} shown={shown} />
    </>
  );
}
