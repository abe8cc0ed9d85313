import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { notificationsKey } from "../api/notifications.ts";
import { commentsQuery } from "../api/recording/comments.ts";
import { followStream } from "./stream.ts";

/** How many notifications are unread, kept current by the server's stream, which also says when comments change. */
export function useUnread(): number {
  const [unread, setUnread] = useState(0);
  const client = useQueryClient();
  useEffect(
    () =>
      followStream((message) => {
        switch (message.type) {
          case "state":
            setUnread(message.unread);
            void client.invalidateQueries({ queryKey: notificationsKey });
            break;
          case "comments":
            void client.invalidateQueries({ queryKey: commentsQuery(message.recordingId).queryKey });
            break;
          case "missed":
            void client.invalidateQueries({ predicate: isOfComments });
        }
      }),
    [client],
  );
  return unread;
}

function isOfComments({ queryKey: [kind, , part] }: Query): boolean {
  return kind === "recording" && part === "comments";
}
