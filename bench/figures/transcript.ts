import type { Load, Target } from "../load.ts";
import { type Figure, ratioFigure } from "../report.ts";
import { startBareBytes } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import type { Served } from "./latency.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

const forms = [
  { name: "WebVTT", path: "/transcript.vtt", min: 0.5 },
  { name: "JSON", path: "/transcript", min: 0.7 },
] as const;

/** A transcript of four hours against the same bytes sent from memory by a bare server, eight clients at once. */
export async function measureTranscript(
  load: Load,
  { server, data }: Served,
  { rounds }: Sizes,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, path, min } of forms) {
    const { transcriptId, workspaceToken } = data.made;
    const subject = apiRequest(server, workspaceToken, "GET", `/recordings/${transcriptId}${path}`);
    const { contentType, bytes } = await fetchBytes(subject);
    const bare = await startBareBytes({ contentType, base64: bytes.toString("base64") });
    try {
      const baseline: Target = { ...subject, url: bare.url };
      const compared = await load.compare("throughput", baseline, subject, rounds);
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
