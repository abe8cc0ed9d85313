import { Anchor, Loader, Spoiler, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Erasure, erasuresQuery } from "../../api/retention.ts";
import { LoadMore } from "../../common/endless.tsx";
import { ErrorState } from "../../common/states.tsx";
import { dayAndTime, fullTime } from "../../common/time.ts";
import { NoneYet, Panel, Row, Rows, RowsSkeleton, Section, SettingsPage, Tag } from "../parts.tsx";
import { FindPerson } from "./find-person.tsx";
import { PersonFound } from "./person-found.tsx";
import { counted } from "./words.ts";

/** Forgetting a person: who, what goes, and how far it is. */
export function ErasuresPage() {
  const [email, setEmail] = useState<string | null>(null);
  return (
    <SettingsPage
      title="Forget a person"
      lead="Removes the data of one person: their account, and their name, contacts and words in recordings. It can't be undone."
    >
      <Panel>
        <FindPerson onFind={setEmail} />
      </Panel>
      {email === null ? null : (
        <Section title={`What there is of ${email}`}>
          <PersonFound key={email} email={email} onErased={() => setEmail(null)} />
        </Section>
      )}
      <Section
        title="Who was forgotten"
        lead="What was done, not who it was: that is forgotten as well once it is done."
      >
        <Erasures />
      </Section>
    </SettingsPage>
  );
}

function Erasures() {
  const query = useInfiniteQuery(erasuresQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const erasures = query.data.pages.flatMap(({ erasures }) => erasures);
  if (erasures.length === 0) return <NoneYet>Nobody was forgotten yet.</NoneYet>;
  return (
    <div>
      <Rows label="Erasures">
        {erasures.map((erasure) => (
          <ErasureRow key={erasure.id} erasure={erasure} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function ErasureRow({ erasure }: { erasure: Erasure }) {
  const { receipt, status, created_datetime, recordings } = erasure;
  const done = [
    receipt.account_erased ? "account erased" : null,
    ...(
      [
        [receipt.recordings_deleted, "recording deleted", "recordings deleted"],
        [receipt.recordings_anonymised, "recording anonymised", "recordings anonymised"],
        [receipt.segments_erased, "line of transcript erased", "lines of transcript erased"],
        [receipt.uploads_changed, "upload changed", "uploads changed"],
        [receipt.audit_entries_erased, "entry of the audit log", "entries of the audit log"],
      ] as const
    ).map(([count, one, many]) => (count > 0 ? counted(count, one, many) : null)),
  ].filter((text) => text !== null);
  return (
    <Row
      title={recordings === "delete" ? "A person, with their recordings" : "A person"}
      badges={
        status === "done" ? (
          <Tag tone="good">Done</Tag>
        ) : (
          <>
            <Tag tone="accent">Under way</Tag>
            <Loader size={14} role="img" aria-label="Goes on in the background" />
          </>
        )
      }
      facts={[
        <time key="time" dateTime={created_datetime} title={fullTime(created_datetime)}>
          {dayAndTime(created_datetime)}
        </time>,
        done.length > 0 ? done.join(", ") : status === "done" ? "nothing was found" : null,
      ]}
    >
      <Stack gap={6} mt={receipt.held.length + receipt.media_kept.length > 0 ? 8 : 0}>
        <Left
          ids={receipt.media_kept}
          what="The file stays, with voice and face in it. Delete them if it must go."
        />
        <Left
          ids={receipt.unknown_speakers}
          what="Somebody speaks of whom nobody knows who it is, which may be this person. Look at them."
        />
        <Left ids={receipt.held} what="Under legal hold, left as they are. Ask again after the release." />
      </Stack>
    </Row>
  );
}

/** Recordings that somebody has to look at. */
function Left({ ids, what }: { ids: readonly string[]; what: string }) {
  if (ids.length === 0) return null;
  return (
    <div>
      <Text size="sm">
        <b>{counted(ids.length, "recording")}:</b> {what}
      </Text>
      <Spoiler maxHeight={48} showLabel="Show all" hideLabel="Show less">
        <Text size="sm" component="div">
          {ids.map((id, index) => (
            <span key={id}>
              {index > 0 ? ", " : ""}
              <Anchor component={Link} to={`/recordings/${id}` as string} size="sm" ff="monospace">
                {id}
              </Anchor>
            </span>
          ))}
        </Text>
      </Spoiler>
    </div>
  );
}
