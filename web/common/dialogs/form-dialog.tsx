import { useLingui } from "@lingui/react/macro";
import { Button, Group, Modal, type ModalProps, Stack, Text } from "@mantine/core";
import {
  createContext,
  type FormEvent,
  useContext,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";

/** What would be lost if the dialog closed now. */
type Loss =
  | { readonly kind: "nothing" | "secret" }
  | { readonly kind: "changes"; readonly discard: () => void };

interface Losses {
  readonly set: (id: string, loss: Loss | null) => void;
}

const DialogContext = createContext<Losses | null>(null);

function useLoss(loss: Loss): void {
  const dialog = useContext(DialogContext);
  const id = useId();
  useEffect(() => {
    dialog?.set(id, loss);
    return () => dialog?.set(id, null);
  }, [dialog, id, loss]);
}

/** Reports unsaved changes to the enclosing dialog, and how to discard them. Does nothing outside a dialog. */
export function useUnsavedInDialog(isUnsaved: boolean, discard: () => void): void {
  useLoss(
    useMemo(
      (): Loss => (isUnsaved ? { kind: "changes", discard } : { kind: "nothing" }),
      [isUnsaved, discard],
    ),
  );
}

const secret: Loss = { kind: "secret" };

/** Reports to the enclosing dialog that it shows a secret which can't be shown again. */
export function useSecretInDialog(): void {
  useLoss(secret);
}

type FormDialogProps = Omit<ModalProps, "closeOnClickOutside" | "closeOnEscape">;

/**
 * A dialog with a form or a one-time secret. While something would be lost, a click outside does not close it, and Escape and
 * the close button ask first. A form that does not report unsaved changes counts as changed once anything was typed.
 */
export function FormDialog({ onClose, children, ...modal }: FormDialogProps) {
  const [losses, setLosses] = useState<ReadonlyMap<string, Loss>>(new Map());
  const [isTouched, setTouched] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const touched = useRef(new Set<Element>());
  const context = useMemo<Losses>(
    () => ({
      set: (id, loss) =>
        setLosses((before) => {
          const next = new Map(before);
          if (loss === null) next.delete(id);
          else next.set(id, loss);
          return next;
        }),
    }),
    [],
  );
  useEffect(() => {
    if (modal.opened) return;
    setAsking(false);
    setTouched(false);
    touched.current.clear();
  }, [modal.opened]);
  const all = [...losses.values()];
  const hasSecret = all.some(({ kind }) => kind === "secret");
  const wouldLose =
    hasSecret || all.some(({ kind }) => kind === "changes") || (losses.size === 0 && isTouched);
  const onInput = ({ target }: FormEvent): void => {
    const form = target instanceof Element ? target.closest("form") : null;
    if (form === null) return;
    touched.current.add(form);
    setTouched(true);
  };
  const onRequest = (): void => {
    // A form that was saved and removed meanwhile loses nothing.
    const isStill = losses.size > 0 || [...touched.current].some((form) => form.isConnected);
    // A second Escape returns to the form.
    if (wouldLose && isStill) setAsking(!isAsking);
    else onClose();
  };
  return (
    <Modal {...modal} closeOnClickOutside={!wouldLose} onClose={onRequest}>
      <DialogContext value={context}>
        <div hidden={isAsking && wouldLose} onInput={onInput}>
          {children}
        </div>
        {isAsking && wouldLose ? (
          <Question
            hasSecret={hasSecret}
            onKeep={() => setAsking(false)}
            onClose={() => {
              for (const loss of all) if (loss.kind === "changes") loss.discard();
              onClose();
            }}
          />
        ) : null}
      </DialogContext>
    </Modal>
  );
}

function Question(props: { hasSecret: boolean; onKeep: () => void; onClose: () => void }) {
  const { t } = useLingui();
  const { hasSecret, onKeep, onClose } = props;
  return (
    <Stack role="alertdialog" aria-label={hasSecret ? t`Close without copying?` : t`Discard changes?`}>
      <Text>
        {hasSecret
          ? t`This can't be shown again. Close it only if you have copied it.`
          : t`Your changes have not been saved.`}
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onKeep} autoFocus>
          {hasSecret ? t`Back` : t`Keep editing`}
        </Button>
        <Button color="red.9" onClick={onClose}>
          {hasSecret ? t`Close` : t`Discard changes`}
        </Button>
      </Group>
    </Stack>
  );
}
