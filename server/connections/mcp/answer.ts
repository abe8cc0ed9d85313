import { type AskEvent, ask as askOperation } from "../../../contract/ask/ask.ts";
import { sentences } from "../../../contract/sentences.ts";
import { type Ask, Refusal } from "./ask.ts";

/** The inputs of the tool. */
interface Input {
  readonly question: string;
  readonly recording_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly person?: string | undefined;
  readonly team_id?: string | undefined;
  readonly meeting_type_id?: string | undefined;
  readonly tag?: string | undefined;
}

/** How often an assistant gets a sign of life. Most end a request that is silent for a minute. */
const progressMs = 2000;

/**
 * Asks a question and waits for its whole answer. One that ended by an error is refused with all its statements: they reach
 * the assistant only now, and the user may have lost access to them.
 * @param onProgress called regularly with what is done, without words of the meetings.
 */
export async function askQuestion(
  ask: Ask,
  baseUrl: string,
  input: Input,
  onProgress: (message: string) => void,
): Promise<unknown> {
  const { question, recording_id, thread_id, team_id, meeting_type_id, ...given } = input;
  const filter = { ...given, team: team_id, meeting_type: meeting_type_id };
  const progress = followProgress();
  const timer = setInterval(() => onProgress(progress.text()), progressMs);
  const events = (await ask(askOperation.method, askOperation.path, {
    body: { question, recording_id, thread_id, filter },
    inputs: {
      "/filter": "a filter",
      "/filter/from": "from",
      "/filter/to": "to",
      "/filter/person": "person",
      "/filter/team": "team_id",
      "/filter/meeting_type": "meeting_type_id",
      "/filter/tag": "tag",
    },
    onEvent: (event) => {
      if (progress.add(event as AskEvent)) onProgress(progress.text());
    },
  }).finally(() => clearInterval(timer))) as AskEvent[];
  const only = <Name extends AskEvent["event"]>(name: Name) =>
    events.filter((each): each is Extract<AskEvent, { event: Name }> => each.event === name);
  const [done] = only("done");
  if (done === undefined) throw new Refusal(only("error")[0]?.data.message ?? sentences.ask_interrupted);
  const titles = new Map(only("passage").map(({ data }) => [data.recording_id, data.title]));
  return {
    thread_id: done.data.thread_id,
    statements: only("statement").map(({ data }) => ({
      ...data,
      title: titles.get(data.recording_id),
      url: `${baseUrl}/recordings/${data.recording_id}?t=${data.start / 1000}`,
    })),
    left_out: done.data.left_out,
    ...(done.data.message === undefined ? {} : { message: done.data.message }),
  };
}

/** Puts what is done into words. */
function followProgress() {
  const recordings = new Set<string>();
  let passages = 0;
  let statements = 0;
  let waitsFor: string | undefined;
  return {
    /** @returns whether to report it at once; passages arrive many at a time. */
    add({ event, data }: AskEvent): boolean {
      if (event === "searching") waitsFor = data.message;
      else if (event === "passage") {
        recordings.add(data.recording_id);
        passages += 1;
      } else if (event === "statement") statements += 1;
      return event === "searching" || event === "statement";
    },
    text(): string {
      if (waitsFor !== undefined) return waitsFor;
      if (passages === 0) return "Searching.";
      return `Reading. Passages: ${passages}, meetings: ${recordings.size}, statements so far: ${statements}.`;
    },
  };
}
