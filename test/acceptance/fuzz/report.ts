import type { FuzzRequest } from "./request.ts";

/** A request with a wrong response. */
export interface Finding {
  readonly index: number;
  readonly request: FuzzRequest;
  readonly problem: string;
  /** The response body. */
  readonly response: string;
}

/** How many kinds of findings are shown in full. */
const maxShown = 25;

/** Describes the findings: one example of each kind, with the command that repeats it. */
export function describeFindings(findings: readonly Finding[], seed: number, log: string): string {
  const kinds = Map.groupBy(
    findings,
    ({ request, problem }) =>
      `${request.kind.replace(/ at .*/, "")}: ${problem.replace(/;.*/, "").replace(/\d{4,}/g, "many")}`,
  );
  const shown = [...kinds].slice(0, maxShown).map(([kind, group]) => {
    const [first] = group;
    return first === undefined ? "" : `${kind} (${group.length} times)\n${describe(first, seed, log)}`;
  });
  return `${findings.length} wrong responses of ${kinds.size} kinds\n\n${shown.join("\n\n")}`;
}

function describe({ index, request, problem, response }: Finding, seed: number, log: string): string {
  const requestId = /"request_id":"([^"]+)"/.exec(response)?.[1];
  const logged = log
    .split("\n")
    .find((line) => requestId && line.includes(requestId) && line.includes('"error"'));
  return [
    `  ${problem}`,
    `  repeat with: FUZZ_SEED=${seed} FUZZ_ONLY=${index} node test/run.ts test/acceptance/fuzz.test.ts`,
    `  kind: ${request.kind}; ending: ${request.ending}`,
    `  sent (${request.bytes.length} bytes): ${shorten(JSON.stringify(request.bytes.toString("latin1")), 1800)}`,
    `  response: ${shorten(response, 600)}`,
    ...(logged === undefined ? [] : [`  log: ${shorten(logged, 1500)}`]),
  ].join("\n");
}

/** The start and end of a text. A test server's token is not a secret. */
function shorten(text: string, length: number): string {
  const brief = text
    .slice(0, 100_000)
    .replace(/(.{1,12}?)\1{9,}/g, (run, piece) => `${piece}(${run.length / piece.length} times)`);
  return brief.length <= length ? brief : `${brief.slice(0, length / 2)} … ${brief.slice(-length / 2)}`;
}
