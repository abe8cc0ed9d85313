import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";

/** Asks again when the server could not be reached or was in trouble, never when it refused. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        retry: (failures, error) =>
          failures < 3 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
      },
    },
  });
}
