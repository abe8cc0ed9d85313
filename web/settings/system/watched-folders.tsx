import { msg, plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { retryWatchedFiles, type SystemState, systemQuery } from "../../api/settings/system.ts";
import { ServerText } from "../../causes/server-text.tsx";
import { useAction } from "../../common/actions.tsx";
import { fullTime, whenInLine } from "../../common/format/time.ts";
import { Row, RowButton, Rows, Section, Tag } from "../parts.tsx";
import classes from "./system.module.css";

type Folder = SystemState["watched_folders"][number];

const notWatched = msg`No running worker watches this folder, so its files are not imported. Add it to Watched folders in Server settings, or upload its files on the Uploads page.`;

/** The folders of PARLEY_WATCH_DIRS, and their files that could not be imported. Nothing where there are none. */
export function WatchedFolders({ folders }: { folders: readonly Folder[] }) {
  const { t } = useLingui();
  if (folders.length === 0) return null;
  const failed = folders.flatMap(({ folder, watched, failed_files }) =>
    failed_files.map((file) => ({ folder, watched, ...file })),
  );
  return (
    <>
      <Section title={t`Watched folders`} lead={t`Files in these folders become recordings.`}>
        <Rows label={t`Watched folders`}>
          {folders.map((folder) => (
            <FolderRow key={folder.folder} folder={folder} />
          ))}
        </Rows>
      </Section>
      {failed.length === 0 ? null : (
        <Section
          title={t`Failed files`}
          lead={t`The latest failures of each folder. The files stay where they are.`}
        >
          <Rows label={t`Failed files`}>
            {failed.map((file) => (
              <FileRow key={file.id} file={file} />
            ))}
          </Rows>
        </Section>
      )}
    </>
  );
}

function FolderRow({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const { last_scan_datetime: scanned, waiting, pending, done, failed, skipped, watched } = folder;
  // The problems of a folder that was removed from the settings are those of its last check.
  const { problem, delay } = watched ? folder : { problem: null, delay: null };
  const lastCheck = scanned === null ? null : whenInLine(scanned);
  const path = folder.folder;
  const isLeft = !watched && waiting + pending + failed > 0;
  const retry = useRetry(() => retryWatchedFiles(folder.folder));
  return (
    <Row
      title={folder.folder}
      badges={
        !watched ? (
          <Tag tone="warn">
            <Trans>Not watched</Trans>
          </Tag>
        ) : problem !== null ? (
          <Tag tone="bad">
            <Trans>Problem</Trans>
          </Tag>
        ) : delay !== null ? (
          <Tag tone="warn">
            <Trans>Delayed</Trans>
          </Tag>
        ) : undefined
      }
      facts={[
        plural(waiting, { one: "# waiting", other: "# waiting" }),
        plural(pending, { one: "# processing", other: "# processing" }),
        plural(done, { one: "# done", other: "# done" }),
        plural(failed, { one: "# failed", other: "# failed" }),
        skipped === 0 ? null : plural(skipped, { one: "# not a recording", other: "# not recordings" }),
        scanned === null ? (
          t`not checked yet`
        ) : (
          <time key="scan" dateTime={scanned} title={fullTime(scanned)}>
            <Trans>last check {lastCheck}</Trans>
          </time>
        ),
      ]}
      actions={
        failed === 0 || !watched ? undefined : (
          <RowButton text={t`Retry all`} label={t`Retry all failed files in ${path}`} action={retry} />
        )
      }
    >
      {isLeft ? (
        <Text size="sm" className={classes.error ?? ""}>
          {t(notWatched)}
        </Text>
      ) : null}
      {[problem, delay].map((text) =>
        text === null ? null : (
          <Text key={text} size="sm" className={classes.error ?? ""}>
            <ServerText text={text} />
          </Text>
        ),
      )}
    </Row>
  );
}

function FileRow({ file }: { file: Folder["failed_files"][number] & Pick<Folder, "folder" | "watched"> }) {
  const { t } = useLingui();
  const { id, path, workspace, error, failed_datetime: at } = file;
  const name = path ?? t`Name erased`;
  const retry = useRetry(() => retryWatchedFiles(file.folder, id));
  return (
    <Row
      title={name}
      facts={[
        workspace.name,
        file.folder,
        <time key="at" dateTime={at} title={fullTime(at)}>
          {whenInLine(at)}
        </time>,
      ]}
      actions={
        file.watched ? <RowButton text={t`Retry`} label={t`Retry ${name}`} action={retry} /> : undefined
      }
    >
      <Text size="sm" className={classes.error ?? ""}>
        <ServerText text={error} />
      </Text>
    </Row>
  );
}

function useRetry(run: () => ReturnType<typeof retryWatchedFiles>) {
  return useAction({
    run,
    done: ({ retried }) =>
      plural(retried, { one: "# file will be imported again.", other: "# files will be imported again." }),
    refresh: [systemQuery.queryKey],
  });
}
