import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, path } from "../api/client.ts";

/** The transcript of a recording as captions; the player takes an address, and the API asks for headers. */
export function useCaptions(recordingId: string): string | undefined {
  const { data } = useQuery({
    queryKey: ["recordings", "captions", recordingId],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }): Promise<string> =>
      call("GET", path`/_/public-api/v2/recordings/${recordingId}/transcript.vtt`, { signal }),
  });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (data === undefined || !data.includes("-->")) return;
    const made = URL.createObjectURL(new Blob([data], { type: "text/vtt" }));
    setAddress(made);
    return () => {
      setAddress(undefined);
      URL.revokeObjectURL(made);
    };
  }, [data]);
  return address;
}
