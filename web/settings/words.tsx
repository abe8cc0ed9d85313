/** Text whose commands are in backticks. */
export function Words({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change places.
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}

/** A text that only the server has, in English. */
export function ServerText({ text }: { text: string }) {
  return (
    <span lang="en">
      <Words text={text} />
    </span>
  );
}
