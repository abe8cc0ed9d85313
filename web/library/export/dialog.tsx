import { plural } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Checkbox, Group, Modal, Progress, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { LibraryItem } from "../../api/library/pages.ts";
import { errorText } from "../../common/actions.tsx";
import { type Failure, Failures } from "../../common/failures.tsx";
import { bytes } from "../../common/format/bytes.ts";
import { number } from "../../common/format/numbers.ts";
import { dateOf } from "../../common/format/time.ts";
import { saveAs } from "../../common/save-as.ts";
import { type Progress as Collected, collect } from "./collect.ts";

export interface ExportDialogProps {
  readonly isOpen: boolean;
  readonly items: readonly LibraryItem[];
  readonly onClose: () => void;
}

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly progress: Collected }
  | { readonly kind: "failed"; readonly text: string }
  | { readonly kind: "done"; readonly failed: readonly Failure[]; readonly size: number };

const idle: State = { kind: "idle" };

/** Exports recordings as ZIP files, with progress. While it runs, only the button cancels it. */
export function ExportDialog({ isOpen, items, onClose }: ExportDialogProps) {
  const { t } = useLingui();
  // The selection may change while this is open, when the list is refreshed.
  const [shown, setShown] = useState(items);
  useEffect(() => {
    if (!isOpen) setShown(items);
  }, [isOpen, items]);
  const [hasMedia, setMedia] = useState(true);
  const { state, start, reset } = useExport(shown);
  const isRunning = state.kind === "running";
  const close = () => {
    reset();
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      closeOnClickOutside={!isRunning}
      closeOnEscape={!isRunning}
      withCloseButton={!isRunning}
      title={plural(shown.length, { one: "Export: # recording", other: "Export: # recordings" })}
    >
      <Stack>
        <Text size="sm">
          <Trans>
            A ZIP file with a folder for each recording: transcript (text and WebVTT) and data (JSON). More
            than 4 GB becomes several files.
          </Trans>
        </Text>
        <Checkbox
          label={t`Include video and audio files`}
          checked={hasMedia}
          disabled={isRunning}
          onChange={(event) => setMedia(event.currentTarget.checked)}
        />
        <Outcome state={state} total={shown.length} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {state.kind === "done" ? t`Close` : t`Cancel`}
          </Button>
          <Button data-autofocus loading={isRunning} onClick={() => void start(hasMedia)}>
            <Trans>Export</Trans>
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function useExport(items: readonly LibraryItem[]) {
  const [state, setState] = useState<State>(idle);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const isRunning = state.kind === "running";
  useEffect(() => {
    if (!isRunning) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isRunning]);
  const start = async (hasMedia: boolean) => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const onProgress = (progress: Collected) => {
      if (!signal.aborted) setState({ kind: "running", progress });
    };
    onProgress({ done: 0, bytes: 0 });
    let [size, parts] = [0, 0];
    const onZip = (zip: Blob) => {
      size += zip.size;
      parts += 1;
      saveAs(zip, `recordings-${dateOf(new Date())}${parts === 1 ? "" : `-${parts}`}.zip`);
    };
    try {
      const failed = await collect(items, { hasMedia, onProgress, onZip, signal });
      if (!signal.aborted) setState({ kind: "done", failed, size });
    } catch (error) {
      if (!signal.aborted) setState({ kind: "failed", text: errorText(error) });
    }
  };
  const reset = () => {
    running.current?.abort();
    setState(idle);
  };
  return { state, start, reset };
}

function Outcome({ state, total }: { state: State; total: number }) {
  const { t } = useLingui();
  if (state.kind === "idle") return null;
  if (state.kind === "failed")
    return (
      <Alert color="red" role="alert" title={t`Couldn't export`}>
        {state.text}
      </Alert>
    );
  if (state.kind === "running") {
    const done = number(state.progress.done);
    const read = bytes(state.progress.bytes);
    return (
      <div>
        <Progress value={(state.progress.done / total) * 100} aria-label={t`Export progress`} />
        <Text size="sm" c="dimmed" mt={6}>
          <Plural
            value={total}
            one={`${done} of # recording, ${read}`}
            other={`${done} of # recordings, ${read}`}
          />
        </Text>
      </div>
    );
  }
  const { failed } = state;
  const size = bytes(state.size);
  return (
    <div role="status">
      {failed.length < total ? (
        <Text size="sm">
          <Plural
            value={total - failed.length}
            one={`# recording exported (${size}).`}
            other={`# recordings exported (${size}).`}
          />
        </Text>
      ) : null}
      {failed.length === 0 ? null : (
        <Alert
          color="red"
          title={plural(failed.length, {
            one: "# recording couldn't be exported",
            other: "# recordings couldn't be exported",
          })}
          mt="xs"
        >
          <Failures failed={failed} />
        </Alert>
      )}
    </div>
  );
}
