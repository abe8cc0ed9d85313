import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";

/** Asks again when the server could not be reached or was in trouble, never when it refused. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        // Otherwise what is asked without a line waits in silence for it; so it is told, and asked again when it is back.
        networkMode: "always",
        refetchOnReconnect: true,
        retry: (failures, error) =>
          failures < 3 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
      },
      mutations: { networkMode: "always" },
    },
  });
}
