import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type StorageUse, storageUseQuery } from "../../api/settings/system.ts";
import { bytes } from "../../common/format/bytes.ts";
import { Loaded, NoneYet, Row, Rows, Section } from "../parts.tsx";
import classes from "./system.module.css";

const kinds: Readonly<Record<string, (size: string) => string>> = {
  media: (size) => t`${size} media`,
  clip: (size) => t`${size} clips`,
  storyboard: (size) => t`${size} storyboards`,
  thumbnail: (size) => t`${size} thumbnails`,
  waveform: (size) => t`${size} waveforms`,
  upload: (size) => t`${size} unfinished uploads`,
  other: (size) => t`${size} other`,
};

/** Stored bytes by workspace and kind. */
export function Storage() {
  const { t } = useLingui();
  const use = useQuery(storageUseQuery);
  return (
    <Section title={t`Storage`} lead={use.data && lead(use.data)}>
      <Loaded query={use}>
        {({ workspaces }) =>
          workspaces.length === 0 ? (
            <NoneYet>
              <Trans>No files are stored yet.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Storage by workspace`}>
              {workspaces.map((one) => (
                <Row
                  key={one.id ?? "other"}
                  title={one.name ?? t`Other workspaces`}
                  facts={one.kinds.map(
                    ({ kind, bytes: count }) => kinds[kind]?.(bytes(count)) ?? `${bytes(count)} ${kind}`,
                  )}
                  actions={<span className={classes.total}>{bytes(one.bytes)}</span>}
                >
                  <div className={classes.bar} aria-hidden>
                    <div style={{ width: `${share(one.bytes, workspaces)}%` }} />
                  </div>
                </Row>
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Percent of all stored bytes. */
function share(count: number, workspaces: StorageUse["workspaces"]): number {
  const total = workspaces.reduce((sum, one) => sum + one.bytes, 0);
  return total === 0 ? 0 : (100 * count) / total;
}

function lead({ workspaces, database_bytes, disk }: StorageUse): string {
  const total = workspaces.reduce((sum, one) => sum + one.bytes, 0);
  const files = bytes(total);
  const database = bytes(database_bytes);
  if (disk === null) return t`Files take ${files}, the database ${database}.`;
  const free = bytes(disk.free_bytes);
  return t`Files take ${files}, the database ${database}. The data folder's disk has ${free} free.`;
}
