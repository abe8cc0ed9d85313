type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** What a sentence names: `{name}`. */
export type ValuesOf<Text extends string, Value = string> = Readonly<Record<NamesIn<Text>, Value>>;

/** A sentence with its values. */
export function fillSentence<Text extends string>(
  text: Text,
  values: ValuesOf<Text, string | number>,
): string {
  const byName: Readonly<Record<string, string | number>> = values;
  return text.replace(/\{(\w+)\}/g, (_all, name: string) => String(byName[name]));
}
