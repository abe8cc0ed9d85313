import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Alert, Button, FileButton, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { otherContent, sniffBytes } from "../../../shared/files/media-content.ts";
import { mediaFormats } from "../../../shared/files/media-formats.ts";
import { titleOfPath } from "../../../shared/files/recording-title.ts";
import { FormDialog, useUnsavedInDialog } from "../../common/dialogs/form-dialog.tsx";
import { bytes } from "../../common/format/bytes.ts";
import { dayAndTime } from "../../common/format/time.ts";
import { maxUploadBytes } from "../limits.ts";
import classes from "../uploads.module.css";
import { byName, byTime, moveUp, partTimes } from "./order.ts";

/** Systems don't know the type of every format. */
const accepted = ["video/*", "audio/*", ...mediaFormats.map((format) => `.${format}`)].join(",");

/** The server takes at most so many parts of a recording. */
const maxParts = 20;

export interface JoinDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onJoin: (files: readonly File[], title: string) => void;
}

/** Chooses the parts of a meeting that become one recording, their order and the title. */
export function JoinDialog({ isOpen, onClose, onJoin }: JoinDialogProps) {
  const { t } = useLingui();
  return (
    <FormDialog opened={isOpen} onClose={onClose} title={t`Join files into one recording`} size="lg" centered>
      <JoinForm
        onJoin={(files, title) => {
          onJoin(files, title);
          onClose();
        }}
      />
    </FormDialog>
  );
}

function JoinForm({ onJoin }: Pick<JoinDialogProps, "onJoin">) {
  const { t } = useLingui();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [title, setTitle] = useState<string | null>(null);
  const suggested = titleOfPath(files[0]?.name ?? "");
  // Dropped files are no input of the form.
  useUnsavedInDialog(files.length > 0, keepNothing);
  const [others, setOthers] = useState<ReadonlyMap<File, string>>(new Map());
  const problem = problemOf(files, others);
  const isReady = files.length > 1 && problem === null;
  const add = (chosen: readonly File[]) => {
    setFiles(files.length === 0 ? byName(chosen) : withNew(files, chosen));
    void findOthers(chosen).then((found) => setOthers((known) => new Map([...known, ...found])));
  };
  return (
    <form
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add([...event.dataTransfer.files]);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onJoin(files, title?.trim() || suggested);
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          <Trans>
            For a meeting recorded in several parts. Choose the parts, or drop them here. They play one after
            the other.
          </Trans>
        </Text>
        <Group gap="xs">
          <FileButton multiple accept={accepted} onChange={add}>
            {(props) => (
              <Button {...props} variant="light" data-autofocus>
                {files.length === 0 ? t`Choose files` : t`Add files`}
              </Button>
            )}
          </FileButton>
          {files.length < 2 ? null : (
            <>
              <Button variant="default" onClick={() => setFiles(byName(files))}>
                <Trans>Sort by name</Trans>
              </Button>
              <Button variant="default" onClick={() => setFiles(byTime(files))}>
                <Trans>Sort by time</Trans>
              </Button>
            </>
          )}
        </Group>
        {files.length === 0 ? null : <Parts files={files} onChange={setFiles} />}
        {problem === null ? null : (
          <Alert color="red" variant="light">
            {problem}
          </Alert>
        )}
        <TextInput
          label={t`Title`}
          maxLength={500}
          disabled={files.length === 0}
          value={title ?? suggested}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" disabled={!isReady}>
            {files.length < 2
              ? t({ context: "verb", message: "Upload" })
              : plural(files.length, {
                  one: "Upload # file as one recording",
                  other: "Upload # files as one recording",
                })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The chosen files are gone with the dialog. */
const keepNothing = (): void => undefined;

/** Adds files to the end, each once. */
function withNew(files: readonly File[], chosen: readonly File[]): File[] {
  return [...new Map([...files, ...chosen].map((file) => [keyOf(file), file])).values()];
}

/** The files that are no recordings, and what they are. */
async function findOthers(files: readonly File[]): Promise<[File, string][]> {
  const found = await Promise.all(
    files.map(async (file): Promise<[File, string][]> => {
      // A file that can't be read fails when it is sent.
      const start = await file
        .slice(0, sniffBytes)
        .arrayBuffer()
        .catch(() => null);
      const other = start === null || start.byteLength === 0 ? null : otherContent(new Uint8Array(start));
      return other === null ? [] : [[file, other]];
    }),
  );
  return found.flat();
}

function keyOf({ name, size, lastModified }: File): string {
  return `${name}/${size}/${lastModified}`;
}

/** Why these files can't be joined; null: they can. */
function problemOf(files: readonly File[], others: ReadonlyMap<File, string>): string | null {
  const excess = files.length - maxParts;
  if (excess > 0)
    return plural(excess, {
      one: `A recording has at most ${maxParts} parts. Remove # file.`,
      other: `A recording has at most ${maxParts} parts. Remove # files.`,
    });
  const empty = files.find(({ size }) => size === 0);
  if (empty !== undefined) {
    const { name } = empty;
    return t`${name} is empty. Remove it, or choose it again when it is complete.`;
  }
  const other = files.find((file) => others.has(file));
  if (other !== undefined) {
    const { name } = other;
    const content = others.get(other) ?? "";
    return t`${name} looks like ${content}. Remove it.`;
  }
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > maxUploadBytes) {
    const [total, limit] = [bytes(size), bytes(maxUploadBytes)];
    return t`Together the files have ${total}. The limit is ${limit}. Remove some.`;
  }
  return null;
}

function Parts(props: { files: readonly File[]; onChange: (files: readonly File[]) => void }) {
  const { t } = useLingui();
  const { files, onChange } = props;
  return (
    <ol className={classes.list} aria-label={t`Parts in their order`}>
      {partTimes(files).map(({ file, at, isStart }, index) => {
        const { name } = file;
        const [size, when] = [bytes(file.size), dayAndTime(new Date(at).toISOString())];
        return (
          <li key={keyOf(file)} className={classes.part}>
            <div className={classes.grow}>
              <Text fw={600} className={classes.name ?? ""}>
                {name}
              </Text>
              <Text size="sm" c="dimmed">
                {isStart ? t`${size} · started ${when}` : t`${size} · changed ${when}`}
              </Text>
            </div>
            <ActionIcon
              variant="subtle"
              aria-label={t`Move ${name} up`}
              disabled={index === 0}
              onClick={() => onChange(moveUp(files, index))}
            >
              <IconArrowUp size={18} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              aria-label={t`Move ${name} down`}
              disabled={index === files.length - 1}
              onClick={() => onChange(moveUp(files, index + 1))}
            >
              <IconArrowDown size={18} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Remove ${name}`}
              onClick={() => onChange(files.filter((_, other) => other !== index))}
            >
              <IconX size={18} />
            </ActionIcon>
          </li>
        );
      })}
    </ol>
  );
}
