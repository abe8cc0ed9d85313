import { Alert } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";

interface Action<Input, Result> {
  readonly run: (input: Input) => Promise<Result>;
  /** What is said once it is done. */
  readonly done?: string | ((result: Result, input: Input) => string);
  /** What has to be asked for again afterwards, by the beginnings of the keys. */
  readonly refresh?: readonly QueryKey[];
  readonly onDone?: (result: Result, input: Input) => void;
  /** The place shows the error itself, as a form does at its fields. */
  readonly showsError?: boolean;
}

/** Does something on the server: tells how it went, and has what it changed loaded again. */
export function useAction<Input = void, Result = unknown>({
  run,
  done,
  refresh = [],
  onDone,
  showsError = false,
}: Action<Input, Result>): UseMutationResult<Result, Error, Input> {
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
        notifications.show({ color: "red", title: "That did not work", message: errorText(error) });
    },
  });
}

/** What went wrong, in words for the person. */
export function errorText(error: unknown): string {
  return error instanceof ApiError ? error.message : "This page ran into a fault of its own.";
}

/** The faults that the server found, by the name of the field: `/redirect_uris/1` is of `redirect_uris`. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  if (!(error instanceof ApiError)) return found;
  for (const { pointer, detail } of error.violations) {
    const [, field = "", entry] = pointer.split("/");
    const place = entry !== undefined && /^\d+$/.test(entry) ? `Entry ${Number(entry) + 1} ` : "";
    const text = place === "" ? detail.charAt(0).toUpperCase() + detail.slice(1) : place + detail;
    found[field] = found[field] === undefined ? text : `${found[field]}; ${text}`;
  }
  return found;
}

/** What went wrong with a form as a whole: everything that is not told at one of its fields. */
export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (error === null || error === undefined) return null;
  const faults = Object.keys(fieldErrors(error));
  if (faults.length > 0 && faults.every((field) => fields.includes(field))) return null;
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
      {errorText(error)}
    </Alert>
  );
}
