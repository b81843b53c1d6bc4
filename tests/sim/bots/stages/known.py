"""Where simcord 3.2 shows something else: lines of this simulator alone (`-`) and of simcord alone (`+`), by script.

Each is asserted, so that a difference that goes away, or a new one, is seen. docs/sim.md says why.
"""

PING = "[owner] files [] to None"
BOTH = "['guest', 'owner']"
COMMAND = "chat_input_command mentions [] files [] to None"

KNOWN: dict[str, list[str]] = {
    # who is left out by allowed_mentions is not among a message's mentions
    "talking": [
        f"-heard message bot in general: '<@owner> <@guest>' default mentions {PING}",
        "-heard message bot in general: '<@owner> <@guest> @everyone' default mentions [] files [] to None",
        "+heard message bot in general: '<@owner> <@guest>' default mentions [owner, guest] files [] to None",
        "+heard message bot in general: '<@owner> <@guest> @everyone' default mentions [owner, guest] files [] to None",
        "-general: bot: '<@owner> <@guest>' mentions ['owner']",
        "-general: bot: '<@owner> <@guest> @everyone'",
        f"+general: bot: '<@owner> <@guest>' mentions {BOTH}",
        f"+general: bot: '<@owner> <@guest> @everyone' mentions {BOTH}",
    ],
    # a bot hears of its own message while it goes on; a pin is an edit too, and its notice has no text
    "changing": [
        "-heard message bot in general: 'first' default mentions [] files [] to None",
        "+heard message bot in general: 'second' default mentions [] files [] to None",
        "-heard edit 'first' 'first'",
        "-heard message owner in general: '' pins_add mentions [] files [] to frist",
        "+heard message owner in general: 'pinned a message to this channel.' pins_add mentions [] files [] to frist",
        "-general: owner: '' type pins_add, reply to frist",
        "+general: owner: 'pinned a message to this channel.' type pins_add, reply to frist",
    ],
    # REST says which reactions are the asker's own
    "reacting": [
        "-general: guest: 'nice?' reactions [('👍', 2, True), ('🎈', 2, True)]",
        "+general: guest: 'nice?' reactions [('👍', 2, False), ('🎈', 2, False)]",
    ],
    # a promise is heard before it is kept; an ephemeral message is told to its bot; a kept promise counts as no edit
    "commanding": [
        f"-heard message bot in general: '' {COMMAND}",
        f"+heard message bot in general: 'The sum is 42' {COMMAND}",
        f"-heard message bot in general: 'Once' {COMMAND}",
        f"+heard message bot in general: 'Once, and no more' {COMMAND}",
        f"-heard message bot in direct: 'Between us' {COMMAND}",
        "-general: bot: 'The sum is 42' type chat_input_command, asked by guest",
        "+general: bot: 'The sum is 42' type chat_input_command, edited True, asked by guest",
    ],
    "clicking": [
        "-heard message bot in direct: 'Chose red and grey' default mentions [] files [] to None",
    ],
    # a thread from a message has its id, marks it, begins with it, and is its only one; so does a forum's post
    "threading": [
        "-heard edit '!thread' '!thread'",
        "-heard message guest in thread aside: '' thread_starter_message mentions [] files [] to !thread",
        "+heard message bot in general: 'aside' thread_created mentions [] files [] to !thread",
        "+heard message bot in general: 'again' thread_created mentions [] files [] to !thread",
        "-did again 160004",
        "-did starter True",
        "+did again 0",
        "+did starter False",
        "-general: guest: '!thread' flags ['has_thread']",
        "+general: guest: '!thread'",
        "+general: bot: 'aside' type thread_created, reply to !thread",
        "+general: bot: 'again' type thread_created, reply to !thread",
        "-aside: guest: '' type thread_starter_message, reply to !thread",
        "-aside: bot: 'inside'",
        "+again: bot: 'inside'",
    ],
    # enforce_nonce posts once
    "sending_once": [
        "-did same True",
        "+heard message bot in general: 'once' default mentions [] files [] to None",
        "+did same False",
        "+general: bot: 'once'",
    ],
    # `after` gives what comes next, not what is newest
    "reading_back": [
        "-did after 21 61 to 81",
        "+did after 21 110 to !read",
        "-did all 133 from 'Welcome <@guest>'",
        "+did all 100 from '31'",
    ],
    # an empty message has a code of its own; a reply to nothing, what is no emoji and oneself are refused
    "being_refused": [
        "+heard message bot in general: 'x' reply mentions [] files [] to unknown",
        "+heard reaction no emoji bot !refused",
        "-did refused empty 50006",
        "+did refused empty 50035",
        "-did refused reply to nothing 50035",
        "+did refused reply to nothing 0",
        "-did refused no emoji 10014",
        "-did refused to itself 50033",
        "+did refused no emoji 0",
        "+did refused to itself 0",
        "-general: guest: '!refused'",
        "+general: guest: '!refused' reactions [('no emoji', 1, False)]",
        "+general: bot: 'x' type reply, reply to unknown",
    ],
}
