"""Chinese: kitchen, work, weekends, books, running."""

from backscroll.demo.topics.topic import CHINESE_NAMES, Topic

COOKING = Topic(
    "zh",
    (
        "昨天给{who}做了{dish}，{part}有点{how}。",
        "{dish}里放{thing}合适吗，还是换成{other}？",
        "{who}说{dish}要多焖{n}分钟，我没敢信。",
        "{day}有{n}个人来吃饭，主菜想做{dish}。",
        "菜场的{other}太便宜，一下买了{n}块钱的。",
        "{day}在{dish}里试了一次{thing}，味道比想的{how}。",
        "{time}才开始备菜，{dish}差点来不及。",
    ),
    (
        "做{dish}的时候先下{thing}，{part}就不容易{how}。",
        "{other}可以代替{thing}，不过要在起锅前{n}分钟再放。",
        "{n}个人吃的话，{dish}提前一天做好，第二天慢慢热更入味。",
        "{part}要是{how}，加一小勺醋就能救回来。",
        "火别太大，{part}是在最后{n}分钟才定型的。",
        "买多的{other}焯一下水，分装冷冻，能放半个月。",
        "{who}口味淡，{thing}减掉三分之一就行。",
        "{dish}出锅以后静置{n}分钟，切的时候不会散。",
        "如果{day}时间紧，{other}可以前一晚先洗好切好。",
    ),
    {
        "dish": "红烧茄子|番茄牛腩|清蒸鲈鱼|梅菜扣肉|腌笃鲜|干锅花菜|葱油拌面|莲藕排骨汤",
        "thing": "豆瓣酱|八角|花雕酒|蚝油|虾皮|冰糖|白胡椒",
        "other": "香菇|春笋|娃娃菜|莴笋|毛豆|木耳|芋头",
        "part": "汤汁|口感|颜色|肉质|底味",
        "how": "淡|咸|柴|腻|发苦|稀",
        "who": CHINESE_NAMES,
    },
    ("who", "dish"),
)

PROJECT = Topic(
    "zh",
    (
        "{team}组想把{feature}的评审挪到{day}{time}。",
        "{who}在{feature}里又发现{n}个问题，多半和{topic}有关。",
        "周会开了{n}分钟，光{topic}就讲了一半。",
        "{feature}要不要等{team}组回来再合并？",
        "我答应{who}在{date}之前写一页{topic}的说明。",
        "{team}组要{n}个测试账号，说是给{feature}用的。",
        "编译现在要{n}分钟，{who}怀疑是{topic}拖慢的。",
    ),
    (
        "{feature}可以分两次评审，先看{topic}，再看{team}组补的部分。",
        "{n}个问题如果是同一个原因，先修{topic}，其余的重跑一遍再看。",
        "挪到{day}没关系，只要{who}把{topic}的结论写下来。",
        "{topic}的说明写三行就够：改什么，影响谁，从{day}还是{date}开始。",
        "先加个开关再合并，{feature}等{team}组也不会挡住别人。",
        "{n}分钟的编译通常只有一步特别慢，让{team}组把每步耗时列出来。",
        "账号先给一半，{who}应该清楚哪些还在用。",
        "{feature}和{topic}别排在同一周，每件事都会占掉整个{day}。",
        "会议到{time}就停，剩下的{topic}放到下次。",
    ),
    {
        "team": "支付|搜索|客户端|数据|运营|增长|平台",
        "feature": "批量导出|夜间模式|离线缓存|消息中心|权限页面|模板市场|操作日志",
        "topic": "超时重试|文案翻译|限流规则|灰度开关|快捷键|埋点口径|缓存失效",
        "who": CHINESE_NAMES,
    },
    ("feature", "who"),
)

OUTING = Topic(
    "zh",
    (
        "{day}要是{weather}，就和{who}去{spot}走走。",
        "去{spot}的{vehicle}是{time}的，对{who}来说太早了。",
        "{n}个人去{spot}，大概要留几个小时？",
        "{gear}好像落在去{spot}的路上了。",
        "{who}去过{spot}，说上观景台要爬{n}级台阶。",
        "天气预报说{time}以后会{weather}。",
    ),
    (
        "如果会{weather}，最好{time}之前就到{spot}，下午留出余地。",
        "去{spot}最后一段走路{n}分钟，比坐{vehicle}快，风景也更好。",
        "先问问{who}要不要带{gear}，{spot}门口一般能租到。",
        "{n}个人两个小背包加一个{gear}就够了。",
        "地图上的时间再加{n}分钟比较稳妥，{who}喜欢停下来拍照。",
        "晚一班{vehicle}人少，到{spot}天也还亮着。",
        "{spot}在淡季{time}就关门，{day}去之前查一下。",
        "丢了{gear}先别急，{vehicle}的失物招领处过{n}天再问一次。",
    ),
    {
        "spot": "植物园|老城墙|湿地公园|茶山|古镇|天文馆|海边栈道|石窟",
        "weather": "下小雨|起风|有雾|放晴|降温|打雷",
        "gear": "野餐垫|望远镜|保温壶|雨披|相机包|折叠凳",
        "vehicle": "大巴|轮渡|城际列车|缆车|观光车",
        "who": CHINESE_NAMES,
    },
    ("spot", "who"),
)

READING = Topic(
    "zh",
    (
        "{who}借我的{kind}看到第{n}页了，{aspect}{verdict}。",
        "读书会{day}{time}碰头，这本{kind}还没人看完。",
        "{kind}的{aspect}跳过去不看行不行？",
        "{who}说过了第{n}页{aspect}就好看了。",
        "路上听了{n}分钟{kind}，朗读的人把{aspect}读得{verdict}。",
        "看完这本{kind}，{who}劝我{day}开始读点别的。",
    ),
    (
        "{kind}的{aspect}前面常常{verdict}，人物出齐以后就顺了。",
        "再看{n}页，{aspect}要是还不喜欢，放下也无妨。",
        "把{kind}里的人物写在书签上，比看简介管用，{who}也这么做。",
        "{day}可以带一段{aspect}去，问问大家听出了别的意思没有。",
        "{who}说得有道理，这本{kind}要耐心读。",
        "读得太快，{aspect}就会显得{verdict}，调慢一点试试。",
        "读完{kind}之后看{n}页散文，{day}再开新书。",
        "第一遍跳过{aspect}没问题，好的{kind}会把要紧的再讲一遍。",
    ),
    {
        "kind": "家族小说|航海故事|侦探小说|游记|书信集|植物学家传记|志怪小说|校园小说",
        "aspect": "开头|中段|对白|节奏|结尾|写景|译文",
        "verdict": "很精彩|有些平|不太好懂|比想象的好笑|偏长|挺感人",
        "who": CHINESE_NAMES,
    },
    ("kind", "who"),
)

JOGGING = Topic(
    "zh",
    (
        "{part}沿着{where}跑了{n}公里，{body}{state}。",
        "{who}想跟我一起报{race}，不过只有{day}能练。",
        "手表说我在{where}的配速慢了{n}秒，我不太信。",
        "{session}前一晚没睡好，{n}分钟就停了。",
        "新鞋到了，跑{n}分钟以后{body}{state}。",
        "{race}的起跑改到{time}，{who}比我高兴。",
    ),
    (
        "跑完{n}公里再做{session}没问题，只要{body}不疼。",
        "{day}轻松跑就好，力气留给{race}。",
        "{where}树多，手表会飘，多看{n}次的平均。",
        "{body}到{day}要是还{state}，就把{session}换成{n}分钟快走。",
        "{race}起步每公里慢{n}秒，后半程会舒服很多。",
        "{who}要是一起做{session}，先说好谁来带配速。",
        "{race}前{n}分钟吃点清淡的，别试没吃过的东西。",
        "{where}路面软，对{body}友好，{part}的长距离放在那里。",
    ),
    {
        "where": "河边绿道|环湖路|林间小路|滨海步道|旧铁道|山脊路",
        "part": "清晨|傍晚|午休|周末下午",
        "body": "左小腿|右膝盖|腰|脚踝|胯|脚跟",
        "state": "有点紧|出奇地轻松|发沉|酸酸的|还行",
        "race": "十公里赛|半马|夜跑接力|越野赛|公益跑",
        "session": "节奏跑|间歇跑|长距离|上坡跑|恢复跑",
        "who": CHINESE_NAMES,
    },
    ("who", "race"),
)

CHINESE = (COOKING, PROJECT, OUTING, READING, JOGGING)
