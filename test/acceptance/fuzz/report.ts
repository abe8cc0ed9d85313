import type { FuzzRequest } from "./request.ts";

/** A request that was answered wrongly. */
export interface Finding {
  readonly index: number;
  readonly request: FuzzRequest;
  readonly fault: string;
  /** The answer, or what the connection did. */
  readonly answer: string;
}

/** How many findings are written out in full; of each sort one. */
const maxShown = 25;

/** Findings in words: one example of each sort with what is needed to repeat it. */
export function describeFindings(findings: readonly Finding[], seed: number, log: string): string {
  const sorts = Map.groupBy(
    findings,
    ({ request, fault }) =>
      `${request.kind.replace(/ at .*/, "")}: ${fault.replace(/;.*/, "").replace(/\d{4,}/g, "many")}`,
  );
  const shown = [...sorts].slice(0, maxShown).map(([sort, group]) => {
    const [first] = group;
    return first === undefined ? "" : `${sort} (${group.length} times)\n${describe(first, seed, log)}`;
  });
  return `${findings.length} wrong answers of ${sorts.size} sorts\n\n${shown.join("\n\n")}`;
}

function describe({ index, request, fault, answer }: Finding, seed: number, log: string): string {
  const requestId = /"request_id":"([^"]+)"/.exec(answer)?.[1];
  const logged = log
    .split("\n")
    .find((line) => requestId && line.includes(requestId) && line.includes('"error"'));
  return [
    `  ${fault}`,
    `  repeat with: FUZZ_SEED=${seed} FUZZ_ONLY=${index} node test/run.ts test/acceptance/fuzz.test.ts`,
    `  kind: ${request.kind}; ending: ${request.ending}`,
    `  sent (${request.bytes.length} bytes): ${shorten(JSON.stringify(request.bytes.toString("latin1")), 1800)}`,
    `  answer: ${shorten(answer, 600)}`,
    ...(logged === undefined ? [] : [`  log: ${shorten(logged, 1500)}`]),
  ].join("\n");
}

/** The ends of a text, which are what tells; the token of a test server is no secret. */
function shorten(text: string, length: number): string {
  const brief = text
    .slice(0, 100_000)
    .replace(/(.{1,12}?)\1{9,}/g, (run, piece) => `${piece}(${run.length / piece.length} times)`);
  return brief.length <= length ? brief : `${brief.slice(0, length / 2)} … ${brief.slice(-length / 2)}`;
}
