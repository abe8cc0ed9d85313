import { QueryClient } from "@tanstack/react-query";
import { ApiError, isOutage } from "../api/client/api-error.ts";

/** How often to retry failed queries of the current page. */
const recoverMs = 5000;

/** Retries when the server is unreachable or fails, never when it refuses the request. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // The default would pause queries silently while offline; "always" reports the error and retries on reconnect.
        networkMode: "always",
        refetchOnReconnect: true,
        retry: (failures, error) => failures < 3 && (!(error instanceof ApiError) || isOutage(error)),
      },
      mutations: { networkMode: "always" },
    },
  });
  recoverFromOutages(client);
  return client;
}

/** Browsers notice when their own connection returns, but not when the server does. */
function recoverFromOutages(client: QueryClient): void {
  setInterval(() => {
    if (document.visibilityState !== "visible") return;
    void client.refetchQueries({
      type: "active",
      predicate: ({ state }) =>
        state.status === "error" && state.fetchStatus === "idle" && isOutage(state.error),
    });
  }, recoverMs);
}
