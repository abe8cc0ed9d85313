import { parser } from "@prometheus-io/lezer-promql";

/** A metric in a PromQL expression. */
export interface Selector {
  readonly metric: string;
  /** Labels that are matched. */
  readonly labels: readonly string[];
}

/** What an expression refers to. */
export interface References {
  readonly selectors: readonly Selector[];
  /** Labels of `by` and `without`. */
  readonly groupings: readonly string[];
}

/**
 * Reads an expression with Prometheus's own grammar.
 * @throws Error where the expression is invalid.
 */
export function readExpression(expression: string): References {
  const selectors: { metric: string; labels: string[] }[] = [];
  const groupings: string[] = [];
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at "${expression.slice(from)}": ${expression}`);
      if (type.name === "VectorSelector") selectors.push({ metric: "", labels: [] });
      const selector = selectors.at(-1);
      if (type.name === "Identifier" && selector?.metric === "") selector.metric = text;
      if (type.name !== "LabelName") return;
      if (isMatcher(expression, to)) selector?.labels.push(text);
      else groupings.push(text);
    },
  });
  return { selectors, groupings };
}

/** Whether a label is matched and not grouped by. */
function isMatcher(expression: string, end: number): boolean {
  return /^\s*(?:=|!=|=~|!~)/.test(expression.slice(end));
}
