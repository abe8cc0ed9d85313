import { Alert, Button, Group, Radio, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { sessionQuery } from "../api/session.ts";
import {
  updateWorkspace,
  type Workspace,
  type WorkspaceChange,
  workspaceQuery,
} from "../api/workspace-settings.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";
import { Loaded, Panel, Section, SettingsPage } from "./parts.tsx";

/** What holds for everybody in the workspace. */
export function WorkspacePage() {
  const workspace = useQuery(workspaceQuery);
  return (
    <SettingsPage title="Workspace" lead="What holds for everybody in it.">
      <Loaded query={workspace}>
        {(workspace) => (
          <>
            <Section title="Name">
              <NameForm workspace={workspace} />
            </Section>
            <Section
              title="Email domains"
              lead="Who has one of them counts as internal in meetings, everybody else as from outside."
            >
              <DomainsForm workspace={workspace} />
            </Section>
            <Section
              title="New recordings"
              lead="Who sees one besides those who recorded it and took part. Each can be shared otherwise later."
            >
              <SharingForm workspace={workspace} />
            </Section>
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

/** A form for a part of the settings, which is saved by itself. */
function PartForm<Change extends WorkspaceChange>(props: {
  change: Change;
  isChanged: boolean;
  done: string;
  field: keyof WorkspaceChange;
  /** @param fault what the server said of this field. */
  children: (fault: string | undefined) => ReactNode;
}) {
  const save = useAction({
    run: () => updateWorkspace(props.change),
    done: props.done,
    refresh: [workspaceQuery.queryKey, sessionQuery.queryKey],
    showsError: true,
  });
  return (
    <Panel>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm" maw={520}>
          {props.children(fieldErrors(save.error)[props.field])}
          <FormError error={save.error} fields={[props.field]} />
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!props.isChanged}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

function NameForm({ workspace }: { workspace: Workspace }) {
  const [name, setName] = useState(workspace.name);
  return (
    <PartForm
      field="name"
      change={{ name }}
      isChanged={name.trim() !== workspace.name && name.trim() !== ""}
      done="The name is saved."
    >
      {(fault) => (
        <TextInput
          label="Name of the workspace"
          description="People read it when they are invited and when an app asks to be let in."
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fault}
        />
      )}
    </PartForm>
  );
}

function DomainsForm({ workspace }: { workspace: Workspace }) {
  const [domains, setDomains] = useState<string[]>([...workspace.email_domains]);
  return (
    <PartForm
      field="email_domains"
      change={{ email_domains: domains }}
      isChanged={domains.join(" ") !== workspace.email_domains.join(" ")}
      done="The domains are saved. They hold for recordings made from now on."
    >
      {(fault) => (
        <>
          <TagsInput
            label="Domains"
            description="Enter after each. A change holds for recordings made from then on."
            placeholder={domains.length === 0 ? "example.com" : ""}
            splitChars={[",", " ", ";"]}
            acceptValueOnBlur
            value={domains}
            onChange={setDomains}
            error={fault}
          />
          <Joining workspace={workspace} domains={domains} />
        </>
      )}
    </PartForm>
  );
}

/** Who gets an account by these domains; the server's operator decides whether anybody does. */
function Joining({ workspace, domains }: { workspace: Workspace; domains: readonly string[] }) {
  const { single_sign_on: provider } = workspace;
  const isOpen = provider?.makes_accounts === true && domains.length > 0;
  return (
    <Alert
      variant="light"
      color={isOpen ? "yellow" : "gray"}
      c="bright"
      icon={<IconInfoCircle size={18} aria-hidden />}
    >
      <Text size="sm">
        {isOpen
          ? `Whoever has one of these domains and signs in with ${provider.name} gets an account here as a member, without an invitation.`
          : provider === null
            ? "Nobody joins by a domain alone: people are invited. The server has no single sign-on."
            : `Nobody joins by a domain alone: people are invited, and can then sign in with ${provider.name}.`}
      </Text>
    </Alert>
  );
}

const inWords = {
  restricted: "those it belongs to alone",
  workspace: "everybody in the workspace",
  public: "everybody who has the link",
} as const;

function SharingForm({ workspace }: { workspace: Workspace }) {
  const [choice, setChoice] = useState(workspace.new_recordings);
  const isServers = workspace.new_recordings === "server_setting";
  return (
    <PartForm
      field="new_recordings"
      change={{ new_recordings: choice }}
      isChanged={choice !== workspace.new_recordings}
      done="It holds for recordings made from now on."
    >
      {(fault) => (
        <Radio.Group
          aria-label="Who sees new recordings"
          value={choice}
          onChange={(value) => setChoice(value as Workspace["new_recordings"])}
          error={fault}
        >
          <Stack gap="xs">
            <Radio
              value="restricted"
              label="Those it belongs to alone"
              description="Until they share it with people, teams or the workspace."
            />
            <Radio
              value="workspace"
              label="Everybody in the workspace"
              description="Also those who join later."
            />
            <Radio
              value="server_setting"
              label="As the server is set up"
              description={
                isServers
                  ? `At present: ${inWords[workspace.new_recording_share_state]}.`
                  : "The server's operator decides for all workspaces."
              }
            />
          </Stack>
        </Radio.Group>
      )}
    </PartForm>
  );
}
