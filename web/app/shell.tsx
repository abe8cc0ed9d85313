import {
  ActionIcon,
  Anchor,
  AppShell,
  Avatar,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import {
  IconCode,
  IconHighlight,
  IconLogout,
  IconMoon,
  IconSettings,
  IconStack2,
  IconSun,
  IconUpload,
  IconVideo,
} from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { type Session, signOut } from "../api/session.ts";
import { initials } from "../common/person.ts";
import { SendingProvider } from "../uploads/sending.tsx";
import { HeaderSearch } from "./header-search.tsx";
import { useKeptFocus } from "./keep-focus.ts";

const places = [
  { to: "/", label: "Library", icon: IconVideo },
  { to: "/highlights", label: "Highlights", icon: IconHighlight },
  { to: "/stories", label: "Stories", icon: IconStack2 },
  { to: "/uploads", label: "Uploads", icon: IconUpload },
  { to: "/settings", label: "Settings", icon: IconSettings },
] as const;

/** What is around every page: places to go, search, and the person. */
export function Shell({ session }: { session: Session }) {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  useFocusOnNewPage(path, main, close);
  useKeptFocus();
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={isOpen}
            onClick={toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={isOpen ? "Close the menu" : "Open the menu"}
            aria-expanded={isOpen}
          />
          <Anchor component={Link} to="/" underline="never" c="inherit" aria-label="Parley, to the library">
            <Group gap={8} wrap="nowrap">
              <img src="/icon.svg" width={28} height={28} alt="" />
              <Text fw={700} size="lg" visibleFrom="sm" span>
                Parley
              </Text>
            </Group>
          </Anchor>
          <HeaderSearch />
          <PersonMenu session={session} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Main" mod={{ closed: !isOpen }}>
        {places.map(({ to, label, icon: Icon }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon size={20} stroke={1.6} aria-hidden />}
            active={to === "/" ? path === "/" || path.startsWith("/recordings/") : path.startsWith(to)}
            variant="light"
            my={2}
            bdrs="md"
          />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} style={{ outline: "none" }}>
        <SendingProvider userId={session.user.id}>
          <Outlet />
        </SendingProvider>
      </AppShell.Main>
    </AppShell>
  );
}

/** Moves the focus to the page after each step, as a browser does when it loads one. */
function useFocusOnNewPage(path: string, main: React.RefObject<HTMLElement | null>, close: () => void): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    close();
    main.current?.focus({ preventScroll: true });
  }, [path, main, close]);
}

function PersonMenu({ session }: { session: Session }) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const prefersDark = useMediaQuery("(prefers-color-scheme: dark)") ?? false;
  const leave = useMutation({
    mutationFn: signOut,
    onError: ({ message }) => notifications.show({ color: "red", title: "You are still signed in", message }),
  });
  const isDark = colorScheme === "dark" || (colorScheme === "auto" && prefersDark);
  return (
    <Group gap={6} wrap="nowrap">
      <ActionIcon
        component={Link}
        to="/uploads"
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Upload recordings"
        visibleFrom="xs"
      >
        <IconUpload size={20} stroke={1.6} />
      </ActionIcon>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <UnstyledButton aria-label={`${initials(session.user.name)}, account of ${session.user.name}`}>
            <Avatar radius="xl" size={36} color="indigo" variant="filled" aria-hidden>
              {initials(session.user.name)}
            </Avatar>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="sm" fw={600} c="bright">
              {session.user.name}
            </Text>
            <Text size="xs">
              {session.user.email} · {session.workspace.name}
            </Text>
          </Menu.Label>
          <Menu.Item component={Link} to="/settings" leftSection={<IconSettings size={18} />}>
            Settings
          </Menu.Item>
          <Menu.Item
            closeMenuOnClick={false}
            leftSection={isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
            onClick={() => setColorScheme(isDark ? "light" : "dark")}
          >
            {isDark ? "Light colours" : "Dark colours"}
          </Menu.Item>
          <Menu.Item component="a" href="/docs" leftSection={<IconCode size={18} />}>
            API reference
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<IconLogout size={18} />} onClick={() => leave.mutate()}>
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
