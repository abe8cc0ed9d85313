import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { notificationsKey } from "../api/notifications.ts";
import { followStream } from "./stream.ts";

/** How many notifications are unread, null until it is known, kept current by the server's stream, which also says when comments change. */
export function useUnread(userId: string): number | null {
  const [unread, setUnread] = useState<number | null>(null);
  const client = useQueryClient();
  useEffect(
    () =>
      followStream(userId, (message) => {
        switch (message.type) {
          case "state":
            setUnread(message.unread);
            void client.invalidateQueries({ queryKey: notificationsKey });
            break;
          case "comments":
            void client.invalidateQueries({ predicate: isOfComments(message.recordingId) });
            break;
          case "missed":
            void client.invalidateQueries({ predicate: isOfComments(null) });
        }
      }),
    [client, userId],
  );
  return unread;
}

/** Queries of the comments on a recording, or on any. Their own key would make the recording page load another file. */
function isOfComments(recordingId: string | null) {
  return ({ queryKey: [kind, id, part] }: Query): boolean =>
    kind === "recording" && part === "comments" && (recordingId ?? id) === id;
}
