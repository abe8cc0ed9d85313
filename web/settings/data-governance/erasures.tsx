import { plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Loader, Spoiler, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Erasure, erasuresQuery } from "../../api/settings/retention.ts";
import { dayAndTime, fullTime } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { recordingUrl } from "../../common/recording-url.ts";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Panel, Row, Rows, RowsSkeleton, Section, SettingsPage, Tag } from "../parts.tsx";
import { FindDataForm } from "./find-data-form.tsx";
import { FoundData } from "./found-data.tsx";

/** "Erase personal data": find a person's data, erase it, and list past runs. */
export function ErasuresPage() {
  const { t } = useLingui();
  const [email, setEmail] = useState<string | null>(null);
  return (
    <SettingsPage
      title={t`Erase personal data`}
      lead={t`Permanently erases one person's account, and their name, contact details and words in recordings.`}
    >
      <Panel>
        <FindDataForm onFind={setEmail} />
      </Panel>
      {email === null ? null : (
        <Section title={t`Data for ${email}`}>
          <FoundData key={email} email={email} onErased={() => setEmail(null)} />
        </Section>
      )}
      <Section title={t`History`} lead={t`Lists actions only, never names.`}>
        <Erasures />
      </Section>
    </SettingsPage>
  );
}

function Erasures() {
  const { t } = useLingui();
  const query = useInfiniteQuery(erasuresQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const erasures = query.data.pages.flatMap(({ erasures }) => erasures);
  if (erasures.length === 0)
    return (
      <NoneYet>
        <Trans>No personal data erased yet.</Trans>
      </NoneYet>
    );
  return (
    <div>
      <Rows label={t`History`}>
        {erasures.map((erasure) => (
          <ErasureRow key={erasure.id} erasure={erasure} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function ErasureRow({ erasure }: { erasure: Erasure }) {
  const { t } = useLingui();
  const { receipt, status, created_datetime, recordings } = erasure;
  const done = whatWasErased(receipt);
  return (
    <Row
      title={recordings === "delete" ? t`Person and recordings` : t`Person`}
      badges={
        status === "done" ? (
          <Tag tone="good">
            <Trans>Done</Trans>
          </Tag>
        ) : (
          <>
            <Tag tone="accent">
              <Trans>In progress</Trans>
            </Tag>
            <Loader size={14} role="img" aria-label={t`Continues in the background`} />
          </>
        )
      }
      facts={[
        <time key="time" dateTime={created_datetime} title={fullTime(created_datetime)}>
          {dayAndTime(created_datetime)}
        </time>,
        ...done,
        done.length === 0 && status === "done" && t`no data found`,
      ]}
    >
      <Stack gap={6} mt={receipt.held.length + receipt.media_kept.length > 0 ? 8 : 0}>
        <NeedsReview
          ids={receipt.media_kept}
          what={t`The media files still contain voice and face. Delete the recordings to remove them.`}
        />
        <NeedsReview ids={receipt.unknown_speakers} what={t`Unidentified speakers may be this person.`} />
        <NeedsReview
          ids={receipt.held}
          what={t`On legal hold, not changed. Erase again after the hold is released.`}
        />
      </Stack>
    </Row>
  );
}

function whatWasErased(receipt: Erasure["receipt"]): string[] {
  return [
    receipt.account_erased && t`account erased`,
    receipt.recordings_deleted > 0 &&
      plural(receipt.recordings_deleted, { one: "# recording deleted", other: "# recordings deleted" }),
    receipt.recordings_anonymised > 0 &&
      plural(receipt.recordings_anonymised, { one: "# recording redacted", other: "# recordings redacted" }),
    receipt.segments_erased > 0 &&
      plural(receipt.segments_erased, {
        one: "# transcript line erased",
        other: "# transcript lines erased",
      }),
    receipt.voice_profiles_erased > 0 &&
      plural(receipt.voice_profiles_erased, {
        one: "# voice profile erased",
        other: "# voice profiles erased",
      }),
    receipt.uploads_changed > 0 &&
      plural(receipt.uploads_changed, { one: "# upload changed", other: "# uploads changed" }),
    receipt.audit_entries_erased > 0 &&
      plural(receipt.audit_entries_erased, {
        one: "# audit log entry erased",
        other: "# audit log entries erased",
      }),
  ].filter((fact) => fact !== false);
}

/** Recordings that need manual review. */
function NeedsReview({ ids, what }: { ids: readonly string[]; what: string }) {
  const { t } = useLingui();
  const count = ids.length;
  if (count === 0) return null;
  return (
    <div>
      <Text size="sm">
        <Trans>
          <b>
            <Plural value={count} one="# recording" other="# recordings" />:
          </b>{" "}
          {what}
        </Trans>
      </Text>
      <Spoiler maxHeight={48} showLabel={t`Show all`} hideLabel={t`Show less`}>
        <Text size="sm" component="div">
          {ids.map((id, index) => (
            <span key={id}>
              {index > 0 ? ", " : ""}
              <Anchor component={Link} to={recordingUrl(id)} size="sm" ff="monospace">
                {id}
              </Anchor>
            </span>
          ))}
        </Text>
      </Spoiler>
    </div>
  );
}
