import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Select, Textarea } from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  holdsQuery,
  type LegalHold,
  placeHold,
  releaseHold,
  titlesQuery,
} from "../../api/settings/retention.ts";
import { managedUsersQuery } from "../../api/settings/users.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { day, dayAndTime, whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { recordingUrl } from "../../common/recording-url.ts";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";

/** Recordings that can't be deleted by users or rules. */
export function HoldsPage() {
  const { t } = useLingui();
  const holds = useQuery(holdsQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Legal holds`}
      lead={t`Held recordings can't be deleted until released, and are excluded when personal data is erased. They can still be edited.`}
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Place hold</Trans>
        </Button>
      }
    >
      <Loaded query={holds}>
        {({ legal_holds }) =>
          legal_holds.length === 0 ? (
            <NoneYet>
              <Trans>No legal holds.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Legal holds`}>
              {legal_holds.map((hold) => (
                <HoldRow key={hold.recording_id} hold={hold} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <FormDialog opened={opened} onClose={close} title={t`Place hold`} centered>
        <HoldForm onDone={close} />
      </FormDialog>
    </SettingsPage>
  );
}

function HoldRow({ hold }: { hold: LegalHold }) {
  const { t } = useLingui();
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const [edits, { open, close }] = useDisclosure();
  const { recording, recording_id, reason, placed_by, placed_datetime, purge_datetime } = hold;
  const name = recording?.title ?? t`A recording you can't see`;
  const holder = users.find(({ id }) => id === placed_by)?.name;
  const since = whenInLine(placed_datetime);
  return (
    <Row
      title={
        recording === null || purge_datetime !== null ? (
          <span dir="auto">{name}</span>
        ) : (
          <Anchor component={Link} to={recordingUrl(recording.id)} fw={600} c="inherit">
            <span dir="auto">{recording.title}</span>
          </Anchor>
        )
      }
      facts={[
        reason,
        purge_datetime !== null && t`in the trash`,
        recording === null ? t`ID ${recording_id}` : dayAndTime(recording.start_datetime),
        holder === undefined ? t`held by a former user since ${since}` : t`held by ${holder} since ${since}`,
      ]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={t`Change reason: ${name}`} onClick={open}>
            <Trans>Change reason</Trans>
          </Button>
          <ConfirmButton
            text={t`Release`}
            button={{ "aria-label": t`Release ${name}` }}
            title={t`Release hold?`}
            label={t`Release hold`}
            run={() => releaseHold(recording_id)}
            done={t`Hold released.`}
            refresh={[holdsQuery.queryKey]}
          >
            <AfterRelease name={name} purge={purge_datetime} /> <Trans>Reason for the hold: {reason}</Trans>
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={t`Change reason`} centered>
        <HoldForm hold={hold} onDone={close} />
      </FormDialog>
    </Row>
  );
}

/** What can happen to a recording without its hold. @param props.purge when it is deleted from the trash. */
function AfterRelease({ name, purge }: { name: string; purge: string | null }) {
  if (purge === null)
    return (
      <Trans>
        <b dir="auto">{name}</b> can be deleted again, immediately by matching rules.
      </Trans>
    );
  if (Date.parse(purge) <= Date.now())
    return (
      <Trans>
        <b dir="auto">{name}</b> is in the trash and will be deleted permanently within a few minutes.
      </Trans>
    );
  const time = whenInLine(purge);
  return (
    <Trans>
      <b dir="auto">{name}</b> stays in the trash until {time}, and is then deleted permanently.
    </Trans>
  );
}

/** Places a hold, or changes the reason of one. */
function HoldForm({ hold, onDone }: { hold?: LegalHold; onDone: () => void }) {
  const { t } = useLingui();
  const draft = useDraft<{ recordingId: string | null; reason: string }>(
    `hold:${hold?.recording_id ?? "new"}`,
    {
      recordingId: hold?.recording_id ?? null,
      reason: hold?.reason ?? "",
    },
  );
  const { recordingId, reason } = draft.value;
  const save = useForm({
    run: () => placeHold(recordingId ?? "", reason),
    done: hold === undefined ? t`Hold placed.` : t`Reason saved.`,
    refresh: [holdsQuery.queryKey],
    onDone,
    draft,
  });
  return (
    <Form
      form={save}
      label={hold === undefined ? t`Place hold` : t`Save`}
      onCancel={onDone}
      isDisabled={recordingId === null}
    >
      {hold === undefined ? (
        <RecordingSelect value={recordingId} onChange={(recordingId) => draft.change({ recordingId })} />
      ) : null}
      <Textarea
        label={t`Reason`}
        description={t`Shown to admins before they release the hold.`}
        placeholder={t`Case 2026-14`}
        required
        autosize
        minRows={2}
        maxRows={8}
        maxLength={1000}
        {...(hold === undefined ? {} : { "data-autofocus": true })}
        value={reason}
        onChange={(event) => draft.change({ reason: event.currentTarget.value })}
        error={save.errorOf("reason")}
      />
    </Form>
  );
}

const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const typingPauseMs = 300;

/** Selects a recording by title, or by URL or id if the user can't see it. */
function RecordingSelect(props: { value: string | null; onChange: (id: string | null) => void }) {
  const { t } = useLingui();
  const [words, setWords] = useState("");
  const [debounced] = useDebouncedValue(words.trim(), typingPauseMs);
  const id = idPattern.exec(debounced)?.[0].toLowerCase();
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  // The label of the selected recording is not a query.
  const isSearch = id === undefined && debounced !== chosen?.label;
  const titles = useQuery({ ...titlesQuery(isSearch ? debounced : ""), placeholderData: keepPreviousData });
  const found = (titles.data ?? []).map(({ id, title, start_datetime }) => ({
    value: id,
    label: `${title} (${day(start_datetime)})`,
  }));
  const data =
    id === undefined
      ? found
      : [found.find(({ value }) => value === id) ?? { value: id, label: t`Recording ${id}` }];
  return (
    <Select
      label={t`Recording`}
      description={t`Search by title, or paste the URL or ID of a recording you can't see.`}
      placeholder={t`Title, URL or ID`}
      required
      data-autofocus
      searchable
      clearable
      openOnFocus={false}
      limit={20}
      nothingFoundMessage={titles.isPending ? t`Searching…` : t`No matching recordings.`}
      data={chosen !== null && !data.some(({ value }) => value === chosen.value) ? [chosen, ...data] : data}
      // The server has already filtered.
      filter={({ options }) => options}
      value={props.value}
      onSearchChange={setWords}
      onChange={(value, option) => {
        setChosen(option === null ? null : { value: option.value, label: option.label });
        props.onChange(value);
      }}
    />
  );
}
