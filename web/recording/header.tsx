import { msg } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Badge, Button, Menu, VisuallyHidden } from "@mantine/core";
import {
  IconDots,
  IconFileText,
  IconKeyboard,
  IconLock,
  IconRefresh,
  IconShare,
  IconTrash,
  IconUsers,
  IconWorld,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { accessRequestsQuery } from "../api/recording/access-requests.ts";
import { namesInLine } from "../common/format/names.ts";
import { number } from "../common/format/numbers.ts";
import { dayAndTime, fullTime, lengthInWords } from "../common/format/time.ts";
import { lazyPart } from "../common/load-part.tsx";
import { BackLink } from "../common/page-frame.tsx";
import { useRecording } from "./context.ts";
import {
  DeleteDialog,
  DocumentDialog,
  ShareDialog,
  TranscribeAgainDialog,
  UploadTranscriptDialog,
} from "./dialogs.ts";
import classes from "./recording.module.css";
import { Tags } from "./tags.tsx";
import { RecordingTitle } from "./title.tsx";

const shareStates = {
  restricted: { label: msg`Restricted`, icon: IconLock },
  workspace: { label: msg`Workspace`, icon: IconUsers },
  public: { label: msg`Public`, icon: IconWorld },
} as const;

const page = getRouteApi("/signed-in/recordings/$recordingId");

type Dialog = "share" | "document" | "delete" | "again" | "supply" | null;

const DownloadItems = lazyPart(async () => (await import("./downloads.tsx")).DownloadItems, null);

/** Title, facts, tags and actions of the recording. */
export function RecordingHeader({ onHelp, onDeleted }: { onHelp: () => void; onDeleted: () => void }) {
  const { t } = useLingui();
  const { id, view, hasMedia } = useRecording();
  const { recording, participants } = view;
  const { share } = page.useSearch();
  const [dialog, setDialog] = useState<Dialog>(share === true ? "share" : null);
  const requests = useQuery(accessRequestsQuery(id, view.can.share)).data?.requests.length ?? 0;
  const close = (): void => setDialog(null);
  const state = shareStates[recording.share_state];
  const label = t(state.label);
  const names = participants.map(({ name }) => name);
  return (
    <div className={classes.header}>
      <div className={classes.heading}>
        <BackLink to="/">{t`Library`}</BackLink>
        <RecordingTitle />
        <div className={classes.facts}>
          <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
            {dayAndTime(recording.start_datetime)}
          </time>
          <span>{lengthInWords(recording.duration_ms)}</span>
          {recording.meeting_type === null ? null : <span>{recording.meeting_type.name}</span>}
          {names.length === 0 ? null : (
            <span title={namesInLine(names, names.length)} className={classes.names} dir="auto">
              {namesInLine(names)}
            </span>
          )}
          <Tags />
        </div>
      </div>
      <div className={classes.actions}>
        <Button
          variant="default"
          leftSection={<state.icon size={18} stroke={1.6} aria-hidden />}
          visibleFrom="sm"
          onClick={() => setDialog("share")}
          aria-label={t`${label}: who can see this`}
        >
          {label}
        </Button>
        <Button
          leftSection={<IconShare size={18} stroke={1.6} aria-hidden />}
          rightSection={
            requests === 0 ? null : (
              <Badge color="dark" variant="white" size="sm" circle>
                <span aria-hidden>{number(requests)}</span>
                <VisuallyHidden>
                  <Plural value={requests} one="# access request" other="# access requests" />
                </VisuallyHidden>
              </Badge>
            )
          }
          onClick={() => setDialog("share")}
        >
          <Trans>Share</Trans>
        </Button>
        <Menu position="bottom-end" width={250}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t`Recording actions`}>
              <IconDots size={20} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <DownloadItems onDocument={() => setDialog("document")} />
            <Menu.Divider />
            <Menu.Item leftSection={<IconKeyboard size={18} stroke={1.6} />} onClick={onHelp}>
              <Trans>Keyboard shortcuts</Trans>
            </Menu.Item>
            {view.can.transcribe && hasMedia ? (
              <Menu.Item
                leftSection={<IconRefresh size={18} stroke={1.6} />}
                onClick={() => setDialog("again")}
              >
                <Trans>Transcribe again</Trans>
              </Menu.Item>
            ) : null}
            {view.can.edit_transcript && view.transcript.segments > 0 ? (
              <Menu.Item
                leftSection={<IconFileText size={18} stroke={1.6} />}
                onClick={() => setDialog("supply")}
              >
                <Trans>Replace transcript</Trans>
              </Menu.Item>
            ) : null}
            {view.can.delete ? (
              <Menu.Item
                c="var(--mantine-color-error)"
                leftSection={<IconTrash size={18} stroke={1.6} />}
                onClick={() => setDialog("delete")}
              >
                <Trans>Delete</Trans>
              </Menu.Item>
            ) : null}
          </Menu.Dropdown>
        </Menu>
      </div>
      <ShareDialog isOpen={dialog === "share"} onClose={close} />
      <DocumentDialog isOpen={dialog === "document"} onClose={close} />
      <TranscribeAgainDialog isOpen={dialog === "again"} onClose={close} />
      <UploadTranscriptDialog isOpen={dialog === "supply"} onClose={close} />
      <DeleteDialog isOpen={dialog === "delete"} onClose={close} onDeleted={onDeleted} />
    </div>
  );
}
