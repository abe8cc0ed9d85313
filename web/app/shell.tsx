import { Trans, useLingui } from "@lingui/react/macro";
import {
  ActionIcon,
  Anchor,
  AppShell,
  Button,
  Group,
  Menu,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
  IconCode,
  IconLogout,
  IconMoon,
  IconPlayerRecord,
  IconSettings,
  IconSun,
  IconUpload,
} from "@tabler/icons-react";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Session } from "../api/session.ts";
import { initials } from "../common/format/names.ts";
import { lazyPart } from "../common/load-part.tsx";
import { useWider } from "../common/use-wider.ts";
import { useAccountLanguage } from "../language/use-account-language.ts";
import { RecorderOutlet, RecorderProvider, useOpenRecorder } from "../recorder/context.tsx";
import { SenderProvider } from "../uploads/sending/context.tsx";
import { BottomNav } from "./bottom-nav.tsx";
import { HeaderSearch } from "./header-search.tsx";
import { useKeptFocus } from "./keep-focus.ts";
import { isActive, navItems } from "./nav-items.ts";
import { CommandPalette } from "./palette.tsx";
import { QuarantineNotice } from "./quarantine.tsx";
import { useSignOut } from "./session/sign-out.tsx";
import { SignedOut } from "./session/signed-out.tsx";

const LateParts = lazyPart(async () => (await import("./late.tsx")).LateParts, null);

const lateMs = 2000;

/** The frame around every page: navigation, search and the account menu. */
export function Shell({ session }: { session: Session }) {
  const { t } = useLingui();
  // As in app.css.
  const isPhone = !useWider("sm");
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  useFocusOnNewPage(path, main);
  useKeptFocus();
  useAccountLanguage(session.user.language);
  const isLate = useIsLate();
  const isViewer = session.user.role === "viewer";
  return (
    <RecorderProvider>
      <AppShell
        header={{ height: 60 }}
        navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: true } }}
        padding="md"
      >
        <SignedOut session={session} />
        <CommandPalette session={session} />
        <a className="skip" href="#main">
          <Trans>Skip to content</Trans>
        </a>
        <AppShell.Header>
          <Group h="100%" px="md" gap="sm" wrap="nowrap">
            <Anchor component={Link} to="/" underline="never" c="inherit" aria-label={t`Parley home`}>
              <Group gap={8} wrap="nowrap">
                <img src="/icon.svg" width={28} height={28} alt="" />
                <Text fw={700} size="lg" visibleFrom="sm" span>
                  Parley
                </Text>
              </Group>
            </Anchor>
            <HeaderSearch />
            {isPhone || isViewer ? null : <RecordButton />}
            <span id="bell" />
            <AccountMenu session={session} isViewer={isViewer} />
          </Group>
        </AppShell.Header>
        {isPhone ? null : (
          <AppShell.Navbar p="sm" aria-label={t`Main`}>
            {navItems.map(({ to, label, icon: Icon }) => (
              <Link key={to} to={to} className="nav-item" data-active={isActive(to, path) || undefined}>
                <Icon size={20} stroke={1.6} aria-hidden />
                {t(label)}
              </Link>
            ))}
          </AppShell.Navbar>
        )}
        <AppShell.Main id="main" ref={main} tabIndex={-1} style={{ outline: "none" }}>
          <SenderProvider userId={session.user.id}>
            <QuarantineNotice session={session} />
            <RecorderOutlet session={session} />
            {isLate ? <LateParts session={session} /> : null}
            <Outlet />
          </SenderProvider>
        </AppShell.Main>
        {isPhone ? <BottomNav path={path} isViewer={isViewer} /> : null}
      </AppShell>
    </RecorderProvider>
  );
}

/** True once the page has had time to appear. */
function useIsLate(): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateMs);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
}

/** Moves focus to the page content after navigation, as a browser does after loading a page; to search, to its field. */
function useFocusOnNewPage(path: string, main: React.RefObject<HTMLElement | null>): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    const field = document.querySelector<HTMLInputElement>("header input[type=search]");
    const target = path === "/search" && field?.value === "" ? field : main.current;
    target?.focus({ preventScroll: true });
  }, [path, main]);
}

function RecordButton() {
  const { t } = useLingui();
  const open = useOpenRecorder();
  return (
    <>
      <Button
        variant="light"
        color="red"
        visibleFrom="md"
        flex="none"
        leftSection={<IconPlayerRecord size={18} aria-hidden />}
        onClick={() => open()}
      >
        <Trans context="verb">Record</Trans>
      </Button>
      <ActionIcon
        variant="light"
        color="red"
        size="lg"
        hiddenFrom="md"
        aria-label={t({ context: "verb", message: "Record" })}
        onClick={() => open()}
      >
        <IconPlayerRecord size={20} stroke={1.6} />
      </ActionIcon>
    </>
  );
}

function AccountMenu({ session, isViewer }: { session: Session; isViewer: boolean }) {
  const { t } = useLingui();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const prefersDark = useMediaQuery("(prefers-color-scheme: dark)") ?? false;
  const leave = useSignOut(session);
  const { name } = session.user;
  const letters = initials(name);
  const isDark = colorScheme === "dark" || (colorScheme === "auto" && prefersDark);
  return (
    <Group gap={6} wrap="nowrap">
      {isViewer ? null : (
        <ActionIcon
          component={Link}
          to="/uploads"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t`Upload recordings`}
          visibleFrom="xs"
        >
          <IconUpload size={20} stroke={1.6} />
        </ActionIcon>
      )}
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <UnstyledButton aria-label={t`${letters}, account menu of ${name}`}>
            <span className="initials account" aria-hidden>
              {letters}
            </span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="sm" fw={600} c="bright">
              {name}
            </Text>
            <Text size="xs">
              {session.user.email} · {session.workspace.name}
            </Text>
          </Menu.Label>
          <Menu.Item component={Link} to="/settings" leftSection={<IconSettings size={18} />}>
            <Trans>Settings</Trans>
          </Menu.Item>
          <Menu.Item
            closeMenuOnClick={false}
            leftSection={isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
            onClick={() => setColorScheme(isDark ? "light" : "dark")}
          >
            {isDark ? t`Light mode` : t`Dark mode`}
          </Menu.Item>
          <Menu.Item component="a" href="/docs" leftSection={<IconCode size={18} />}>
            <Trans>API reference</Trans>
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={18} />} onClick={leave.run}>
            <Trans>Sign out</Trans>
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {leave.dialog}
    </Group>
  );
}
