import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { NumberInput, Radio, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { sessionQuery } from "../../api/session.ts";
import {
  intelligenceQuery,
  updateIntelligence,
  updateWorkspace,
  type Workspace,
  type WorkspaceChange,
  workspaceQuery,
} from "../../api/settings/workspace.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { Form, type FormDraft, useForm } from "../../common/forms/form.tsx";
import { LanguageSelect } from "../../common/language-select.tsx";
import { SamplesButton } from "../../common/samples.tsx";
import { VocabularyInput } from "../../common/vocabulary-input.tsx";
import { Loaded, Panel, Section, SettingsPage } from "../parts.tsx";
import { ClaimedDomains } from "./email-domains.tsx";
import { VoiceProfiles } from "./voice-profiles.tsx";

/** Settings for the whole workspace. */
export function WorkspacePage() {
  const { t } = useLingui();
  const workspace = useQuery(workspaceQuery);
  return (
    <SettingsPage title={t`General`} lead={t`Settings for the whole workspace.`}>
      <Loaded query={workspace}>
        {(workspace) => (
          <>
            <Section title={t`Name`}>
              <NameForm workspace={workspace} />
            </Section>
            <Section title={t`Email domains`} lead={t`People with these domains count as internal.`}>
              <DomainsForm workspace={workspace} />
            </Section>
            <ClaimedDomains workspace={workspace} />
            <Section title={t`New recordings`} lead={t`Default access for new recordings.`}>
              <SharingForm workspace={workspace} />
            </Section>
            <Section title={t`Trash`} lead={t`How long deleted recordings can be restored.`}>
              <TrashForm workspace={workspace} />
            </Section>
            <Section title={t`Questions`} lead={t`How long questions about meetings are kept.`}>
              <QuestionsForm />
            </Section>
            <Section
              title={t`Transcription`}
              lead={t`Language and vocabulary of your meetings. A meeting type can have its own.`}
            >
              <SpeechForm workspace={workspace} />
            </Section>
            <VoiceProfiles workspace={workspace} />
            <Section
              title={t`Consent reminder`}
              lead={t`Shown in the Record dialog before a recording in the browser starts.`}
            >
              <ConsentForm workspace={workspace} />
            </Section>
            <Section title={t`Sample recordings`} lead={t`Three short recordings to try Parley with.`}>
              <Panel>
                <SamplesButton />
              </Panel>
            </Section>
            <Section
              title={t`Recording added webhook`}
              lead={t`When integrations are notified of a new recording. Without a speech or language model, it is always sent immediately.`}
            >
              <RecordingAddedForm workspace={workspace} />
            </Section>
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

/** A form for one setting, saved on its own. */
function PartForm<Change extends WorkspaceChange>(props: {
  change: Change;
  isChanged: boolean;
  done: string;
  field: keyof WorkspaceChange;
  draft: FormDraft;
  /** @param error of this field, from the server. */
  children: (error: string | undefined) => ReactNode;
}) {
  const { t } = useLingui();
  const save = useForm({
    run: () => updateWorkspace(props.change),
    done: props.done,
    refresh: [workspaceQuery.queryKey, sessionQuery.queryKey],
    draft: props.draft,
  });
  return (
    <Panel>
      <Form form={save} label={t`Save`} isDisabled={!props.isChanged} maxWidth={520}>
        {props.children(save.errorOf(props.field))}
      </Form>
    </Panel>
  );
}

function NameForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const draft = useDraft("workspace-name", workspace.name);
  const name = draft.value;
  return (
    <PartForm
      field="name"
      draft={draft}
      change={{ name }}
      isChanged={name.trim() !== workspace.name && name.trim() !== ""}
      done={t`Name saved.`}
    >
      {(error) => (
        <TextInput
          label={t`Workspace name`}
          description={t`Shown in invitations and when an app requests access.`}
          required
          maxLength={200}
          value={name}
          onChange={(event) => draft.set(event.currentTarget.value)}
          error={error}
        />
      )}
    </PartForm>
  );
}

function DomainsForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const draft = useDraft("workspace-domains", [...workspace.email_domains]);
  const domains = draft.value;
  return (
    <PartForm
      field="email_domains"
      draft={draft}
      change={{ email_domains: domains }}
      isChanged={domains.join(" ") !== workspace.email_domains.join(" ")}
      done={t`Domains saved. They apply to new recordings.`}
    >
      {(error) => (
        <TagsInput
          label={t`Domains`}
          description={t`Press Enter after each domain. Changes apply to new recordings.`}
          placeholder={domains.length === 0 ? "example.com" : ""}
          splitChars={[",", " ", ";"]}
          acceptValueOnBlur
          value={domains}
          onChange={draft.set}
          error={error}
        />
      )}
    </PartForm>
  );
}

function SpeechForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const language = useDraft("workspace-language", workspace.spoken_language ?? "auto");
  const vocabulary = useDraft("workspace-vocabulary", [...workspace.vocabulary]);
  return (
    <Stack>
      <PartForm
        field="spoken_language"
        draft={language}
        change={{ spoken_language: language.value }}
        isChanged={language.value !== (workspace.spoken_language ?? "auto")}
        done={t`Language saved. It applies to new transcriptions.`}
      >
        {(error) => (
          <LanguageSelect
            label={t`Language`}
            automatic={t`Automatic`}
            value={language.value}
            onChange={language.set}
            error={error}
          />
        )}
      </PartForm>
      <PartForm
        field="vocabulary"
        draft={vocabulary}
        change={{ vocabulary: vocabulary.value }}
        isChanged={vocabulary.value.join("\n") !== workspace.vocabulary.join("\n")}
        done={t`Vocabulary saved. It applies to new transcriptions.`}
      >
        {(error) => <VocabularyInput value={vocabulary.value} onChange={vocabulary.set} error={error} />}
      </PartForm>
    </Stack>
  );
}

const currentAccess = {
  restricted: msg`Currently: owners and participants only.`,
  workspace: msg`Currently: everyone in the workspace.`,
  public: msg`Currently: anyone with the link.`,
} as const;

function SharingForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const draft = useDraft("workspace-sharing", workspace.new_recordings);
  const choice = draft.value;
  const isServers = workspace.new_recordings === "server_setting";
  return (
    <PartForm
      field="new_recordings"
      draft={draft}
      change={{ new_recordings: choice }}
      isChanged={choice !== workspace.new_recordings}
      done={t`Saved. It applies to new recordings.`}
    >
      {(error) => (
        <Radio.Group
          aria-label={t`Default access for new recordings`}
          value={choice}
          onChange={(value) => draft.set(value as Workspace["new_recordings"])}
          error={error}
        >
          <Stack gap="xs">
            <Radio
              value="restricted"
              label={t`Owners and participants only`}
              description={t`Until it is shared with people, teams or the workspace.`}
            />
            <Radio
              value="workspace"
              label={t`Everyone in the workspace`}
              description={t`Including users who join later.`}
            />
            <Radio
              value="server_setting"
              label={t`Server default`}
              description={
                isServers
                  ? t(currentAccess[workspace.new_recording_share_state])
                  : t`Set by the server administrator for all workspaces.`
              }
            />
          </Stack>
        </Radio.Group>
      )}
    </PartForm>
  );
}

function TrashForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const draft = useDraft<number | string>("workspace-trash", workspace.trash_days);
  const days = Number(draft.value);
  const isLess = draft.value !== "" && days < workspace.trash_days;
  return (
    <PartForm
      field="trash_days"
      draft={draft}
      change={{ trash_days: days }}
      isChanged={draft.value !== "" && days !== workspace.trash_days}
      done={t`Setting saved.`}
    >
      {(error) => (
        <NumberInput
          label={t`Days in the trash`}
          description={
            isLess
              ? t`Recordings that have been in the trash longer will be deleted permanently, except those on legal hold.`
              : t`0: recordings are deleted permanently at once. Retention rules and erasing personal data delete permanently at once, also from the trash.`
          }
          min={0}
          max={365}
          allowDecimal={false}
          maw={240}
          value={draft.value}
          onChange={draft.set}
          error={error}
        />
      )}
    </PartForm>
  );
}

function QuestionsForm() {
  const intelligence = useQuery(intelligenceQuery);
  return <Loaded query={intelligence}>{({ question_days: saved }) => <QuestionDays saved={saved} />}</Loaded>;
}

function QuestionDays({ saved }: { saved: number }) {
  const { t } = useLingui();
  const draft = useDraft<number | string>("workspace-questions", saved);
  const days = Number(draft.value);
  const save = useForm({
    run: () => updateIntelligence({ question_days: days }),
    done: t`Setting saved.`,
    refresh: [intelligenceQuery.queryKey],
    draft,
  });
  return (
    <Panel>
      <Form form={save} label={t`Save`} isDisabled={draft.value === "" || days === saved} maxWidth={520}>
        <NumberInput
          label={t`Days after the last question`}
          description={
            draft.value !== "" && days < saved
              ? t`Questions whose last follow-up is older will be deleted permanently.`
              : t`Then a question and its follow-ups are deleted permanently.`
          }
          min={1}
          max={3650}
          allowDecimal={false}
          maw={240}
          value={draft.value}
          onChange={draft.set}
          error={save.errorOf("question_days")}
        />
      </Form>
    </Panel>
  );
}

function ConsentForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const saved = workspace.recording_consent ?? "";
  const draft = useDraft("workspace-consent", saved);
  const text = draft.value;
  return (
    <PartForm
      field="recording_consent"
      draft={draft}
      change={{ recording_consent: text }}
      isChanged={text.trim() !== saved}
      done={t`Reminder saved.`}
    >
      {(error) => (
        <Textarea
          label={t`Reminder`}
          description={t`Empty: a general reminder to ask everyone for consent.`}
          maxLength={2000}
          autosize
          minRows={3}
          value={text}
          onChange={(event) => draft.set(event.currentTarget.value)}
          error={error}
        />
      )}
    </PartForm>
  );
}

function RecordingAddedForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const draft = useDraft("workspace-recording-added", workspace.recording_added);
  const choice = draft.value;
  return (
    <PartForm
      field="recording_added"
      draft={draft}
      change={{ recording_added: choice }}
      isChanged={choice !== workspace.recording_added}
      done={t`Saved. It applies to recordings that have not been announced yet.`}
    >
      {(error) => (
        <Radio.Group
          aria-label={t`When recording_added is sent`}
          value={choice}
          onChange={(value) => draft.set(value as Workspace["recording_added"])}
          error={error}
        >
          <Stack gap="xs">
            <Radio
              value="when_ready"
              label={t`When ready`}
              description={t`After the transcript and the AI summary are complete or have failed, or after one hour.`}
            />
            <Radio
              value="immediately"
              label={t`Immediately`}
              description={t`As soon as the recording exists. Transcript and summary follow with recording_updated.`}
            />
          </Stack>
        </Radio.Group>
      )}
    </PartForm>
  );
}
