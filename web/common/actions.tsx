import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Alert } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client/api-error.ts";

export interface Action<Input, Result> {
  readonly run: (input: Input) => Promise<Result>;
  /** The notification on success. */
  readonly done?: string | ((result: Result, input: Input) => string);
  /** Prefixes of the query keys to invalidate on success. */
  readonly refresh?: readonly QueryKey[];
  readonly onDone?: (result: Result, input: Input) => void;
  /** The caller shows the error itself, such as a form at its fields. */
  readonly showsError?: boolean;
}

/** Runs a request, shows a notification for its outcome, and invalidates the queries it changed. */
export function useAction<Input = void, Result = unknown>({
  run,
  done,
  refresh = [],
  onDone,
  showsError = false,
}: Action<Input, Result>): UseMutationResult<Result, Error, Input> {
  const { t } = useLingui();
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (result, input) => {
      const message = typeof done === "function" ? done(result, input) : done;
      if (message !== undefined) notifications.show({ message });
      await Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })));
      onDone?.(result, input);
    },
    onError: (error) => {
      if (!showsError)
        notifications.show({ color: "red", title: t`Couldn't complete that`, message: errorText(error) });
    },
  });
}

/** The error message to show to the user. */
export function errorText(error: unknown): string {
  return error instanceof ApiError ? error.message : t`Something went wrong. Reload the page.`;
}

/** The violations in a response by top-level field: `/redirect_uris/1` belongs to `redirect_uris`. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  if (!(error instanceof ApiError)) return found;
  for (const { pointer, detail } of error.violations) {
    const [, field = "", entry] = pointer.split("/");
    const number = entry !== undefined && /^\d+$/.test(entry) ? Number(entry) + 1 : null;
    const text = number === null ? detail : t`Entry ${number}: ${detail}`;
    found[field] = found[field] === undefined ? text : `${found[field]}; ${text}`;
  }
  return found;
}

/** The error of a form, unless its fields already show all of it. */
export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (error === null || error === undefined) return null;
  const errors = Object.keys(fieldErrors(error));
  if (errors.length > 0 && errors.every((field) => fields.includes(field))) return null;
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
      {errorText(error)}
    </Alert>
  );
}
