import { publicRequest, send, type Target } from "../api.ts";
import type { Bench } from "../bench.ts";
import { compareRequests } from "../load.ts";
import { type Figure, ratioFigure } from "../report.ts";
import { startBareBytes } from "../servers.ts";

const forms = [
  { name: "WebVTT", path: "/transcript.vtt", min: 0.5 },
  { name: "JSON", path: "/transcript", min: 0.7 },
] as const;

/** A transcript of four hours against the same bytes sent from memory by a bare server, eight clients at once. */
export async function measureTranscript({ main, sizes }: Bench): Promise<Figure[]> {
  const { server, data } = await main();
  const { transcriptId, workspaceToken: token } = data.made;
  const figures: Figure[] = [];
  for (const { name, path, min } of forms) {
    const subject = publicRequest({ server, token }, "GET", `/recordings/${transcriptId}${path}`);
    const response = await send(subject);
    const bytes = Buffer.from(await response.arrayBuffer());
    const contentType = response.headers.get("content-type") ?? "";
    const bare = await startBareBytes({ contentType, base64: bytes.toString("base64") });
    try {
      const baseline: Target = { ...subject, url: bare.url };
      const compared = await compareRequests(sizes, "throughput", baseline, subject);
      const size = `${Math.round(bytes.length / 1000)} kB`;
      figures.push(
        ratioFigure(`transcript of 4 h, ${name}, ${size}: to bare bytes`, "/s", compared, { min }),
      );
    } finally {
      bare.stop();
    }
  }
  return figures;
}
