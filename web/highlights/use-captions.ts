import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { transcriptText } from "../../contract/transcripts/transcripts.ts";
import { call } from "../api/client/call.ts";

/** An object URL with a recording's transcript as captions: a track can't send the headers the API requires. */
export function useCaptions(recordingId: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["recordings", "captions", recordingId],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }): Promise<string> =>
      call(transcriptText.vtt, { params: { recording_id: recordingId }, signal }),
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (data === undefined || !data.includes("-->")) return;
    const objectUrl = URL.createObjectURL(new Blob([data], { type: "text/vtt" }));
    setUrl(objectUrl);
    return () => {
      setUrl(undefined);
      URL.revokeObjectURL(objectUrl);
    };
  }, [data]);
  return url;
}
