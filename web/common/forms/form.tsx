import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { type Action, FormError, fieldErrors, useAction } from "../actions.tsx";
import { type Draft, DraftNotice } from "../drafts/use-draft.tsx";

/** A draft as forms use it, whatever its value. */
export type FormDraft = Pick<Draft<unknown>, "saved" | "forget" | "discard" | "restoredAt" | "isOutdated">;

/** What a form does when it is sent. */
export interface FormAction<Result> extends Omit<Action<void, Result>, "showsError"> {
  /** Where the values are kept: removed once they are saved or the form is canceled. */
  readonly draft?: FormDraft;
}

/** The request of a form and its state: idle, busy, failed with the errors of its fields, or done. */
export interface FormState {
  readonly submit: () => void;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly reset: () => void;
  /** The error that the server reported for a field. Errors that no field asked for are shown above the buttons. */
  readonly errorOf: (field: string) => string | undefined;
  readonly shown: ReadonlySet<string>;
  readonly draft: FormDraft | null;
}

/** Sends a form; shows its outcome as `useAction` does, and errors in the form. */
export function useForm<Result>({ draft, onDone, ...action }: FormAction<Result>): FormState {
  const { mutate, isPending, error, reset } = useAction<void, Result>({
    ...action,
    showsError: true,
    onDone: (result) => {
      draft?.saved();
      onDone?.(result);
    },
  });
  const errors = fieldErrors(error);
  const shown = new Set<string>();
  const errorOf = (field: string): string | undefined => {
    shown.add(field);
    return errors[field];
  };
  return { submit: () => mutate(), isPending, error, reset, errorOf, shown, draft: draft ?? null };
}

interface FormProps {
  readonly form: Pick<FormState, "submit" | "isPending"> & Partial<FormState>;
  /** The label of the button that submits. */
  readonly label: string;
  readonly children: ReactNode;
  /** Adds a button that closes the form. */
  readonly onCancel?: () => void;
  readonly isDisabled?: boolean;
  /** Of the button that submits; red where it deletes. */
  readonly color?: string | undefined;
  /** Focuses the button that cancels. */
  readonly isCautious?: boolean;
  /** For forms on a page: its width, with the buttons at its left. */
  readonly maxWidth?: number;
  /** More buttons. */
  readonly buttons?: ReactNode;
  readonly icon?: ReactNode;
}

/** The frame of every form: restored changes, fields, what went wrong, and the buttons. */
export function Form(props: FormProps) {
  const { form, onCancel, maxWidth, isDisabled = false } = props;
  const { draft = null, error, shown = new Set<string>() } = form;
  const cancel = () => {
    draft?.forget();
    onCancel?.();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // React passes it on to a form around the dialog.
        event.stopPropagation();
        if (!isDisabled) form.submit();
      }}
    >
      <Stack {...(maxWidth === undefined ? {} : { gap: "sm", maw: maxWidth })}>
        {draft === null ? null : <DraftNotice draft={draft} />}
        {props.children}
        <FormError error={error} fields={[...shown]} />
        <Group {...(maxWidth === undefined ? { justify: "flex-end" } : {})}>
          {onCancel === undefined ? null : (
            <Button variant="default" onClick={cancel} data-autofocus={props.isCautious || undefined}>
              <Trans>Cancel</Trans>
            </Button>
          )}
          {maxWidth === undefined ? props.buttons : null}
          <Button
            type="submit"
            loading={form.isPending}
            disabled={isDisabled}
            {...(props.color === undefined ? {} : { color: props.color })}
            leftSection={props.icon}
          >
            {props.label}
          </Button>
          {maxWidth === undefined ? null : props.buttons}
        </Group>
      </Stack>
    </form>
  );
}
