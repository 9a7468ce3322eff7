// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IPerpsExchange} from "./IPerpsExchange.sol";
import {PriceOracle} from "./PriceOracle.sol";

/// @title Perpetual futures against a house
/// @notice Traders deposit a margin token and trade at the oracle's price with the house, which keeps fees and losses and
/// pays gains. Quantities and prices are times 1e18; money is in base units of the margin token, which has 6 decimals.
/// @dev The contract's balance is at least all free margin, all locked margin and `houseFunds` together: gains are paid
/// from `houseFunds` alone, never from another trader's margin. Every division rounds against the trader.
contract PerpsExchange is IPerpsExchange, Ownable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev `cost` is the value of the quantity when it was opened.
    struct Holding {
        bool isLong;
        uint256 quantity;
        uint256 cost;
        uint256 margin;
    }

    uint256 public constant MAXIMUM_LEVERAGE = 20;
    /// @notice A liquidator's reward in hundredths of a percent of the position's value, if that much margin is left.
    uint256 public constant LIQUIDATION_REWARD_BPS = 100;
    uint256 private constant BPS = 10_000;
    /// @dev Quantity (1e18) times price (1e18) divided by this is an amount of the margin token (1e6).
    uint256 private constant SCALE = 1e30;

    IERC20 private immutable _marginToken;
    PriceOracle private immutable _oracle;

    /// @inheritdoc IPerpsExchange
    mapping(address account => uint256) public freeMargin;
    /// @notice The funds that gains are paid from.
    uint256 public houseFunds;
    /// @notice The value of all open positions when they were opened.
    uint256 public openInterest;

    Product[] private _products;
    mapping(address account => mapping(uint32 productId => Holding)) private _holdings;

    /// @param token The margin token, of 6 decimals.
    /// @param oracle_ The source of prices.
    constructor(IERC20 token, PriceOracle oracle_) Ownable(msg.sender) {
        _marginToken = token;
        _oracle = oracle_;
    }

    /// @notice Lists a product under the next number.
    /// @param product The product; its `id` and `markPrice` are ignored.
    function addProduct(Product calldata product) external onlyOwner {
        _products.push(product);
        _products[_products.length - 1].id = uint32(_products.length);
    }

    /// @notice Adds to the funds that the house pays gains from.
    function fundHouse(uint256 amount) external nonReentrant {
        houseFunds += amount;
        _marginToken.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IPerpsExchange
    function deposit(uint256 amount) external nonReentrant {
        require(amount > 0, BadQuantity(amount));
        freeMargin[msg.sender] += amount;
        emit Deposited(msg.sender, amount);
        _marginToken.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @inheritdoc IPerpsExchange
    function withdraw(uint256 amount) external nonReentrant {
        require(amount > 0, BadQuantity(amount));
        _spendFreeMargin(amount);
        emit Withdrawn(msg.sender, amount);
        _marginToken.safeTransfer(msg.sender, amount);
    }

    /// @inheritdoc IPerpsExchange
    function open(uint32 productId, bool isLong, uint256 quantity, uint256 leverage, uint256 limitPrice)
        external
        nonReentrant
    {
        Product storage product = _productOf(productId);
        require(product.active, ProductInactive(productId));
        Holding storage holding = _holdings[msg.sender][productId];
        require(holding.quantity == 0 || holding.isLong == isLong, OppositePosition(productId));
        require(quantity >= product.minQuantity && quantity <= product.maxQuantity, BadQuantity(quantity));
        require(quantity % product.increment == 0, BadQuantity(quantity));
        require(holding.quantity + quantity <= product.maxQuantity, BadQuantity(holding.quantity + quantity));
        require(leverage > 0, LeverageIsZero());
        require(leverage <= MAXIMUM_LEVERAGE, LeverageTooHigh(leverage, MAXIMUM_LEVERAGE));
        uint256 price = _markPriceOf(product);
        _requireWithinLimit(price, limitPrice, isLong);

        uint256 worth = _worthOf(quantity, price, isLong);
        uint256 margin = Math.ceilDiv(worth, leverage);
        uint256 fee = _shareOf(worth, product.takerFeeBps);
        _spendFreeMargin(margin + fee);
        houseFunds += fee;
        openInterest += worth;
        require(openInterest <= houseFunds, HouseFundsTooLow(openInterest, houseFunds));
        holding.isLong = isLong;
        holding.quantity += quantity;
        holding.cost += worth;
        holding.margin += margin;
        // Adding to a position that is almost lost must not hide its loss.
        require(!_isLiquidatable(product, holding), InsufficientMargin(margin + fee, freeMargin[msg.sender]));
        emit Opened(msg.sender, productId, isLong, quantity, price, margin, fee);
    }

    /// @inheritdoc IPerpsExchange
    function close(uint32 productId, uint256 quantity, uint256 limitPrice) external nonReentrant {
        Product storage product = _productOf(productId);
        Holding storage holding = _holdings[msg.sender][productId];
        require(holding.quantity > 0, NoPosition(productId));
        require(quantity > 0 && quantity <= holding.quantity && quantity % product.increment == 0, BadQuantity(quantity));
        uint256 price = _markPriceOf(product);
        _requireWithinLimit(price, limitPrice, !holding.isLong);

        uint256 worth = _worthOf(quantity, price, !holding.isLong);
        (uint256 equity, int256 pnl) = _settle(holding, quantity, worth);
        uint256 fee = Math.min(equity, _shareOf(worth, product.takerFeeBps));
        houseFunds += fee;
        freeMargin[msg.sender] += equity - fee;
        emit Closed(msg.sender, productId, quantity, price, pnl, fee);
    }

    /// @inheritdoc IPerpsExchange
    function liquidate(address account, uint32 productId) external nonReentrant {
        Product storage product = _productOf(productId);
        Holding storage holding = _holdings[account][productId];
        require(holding.quantity > 0, NoPosition(productId));
        require(_isLiquidatable(product, holding), NotLiquidatable(account, productId));
        uint256 price = _markPriceOf(product);
        uint256 worth = _worthOf(holding.quantity, price, !holding.isLong);
        (uint256 equity,) = _settle(holding, holding.quantity, worth);
        uint256 reward = Math.min(equity, (worth * LIQUIDATION_REWARD_BPS) / BPS);
        freeMargin[msg.sender] += reward;
        freeMargin[account] += equity - reward;
        emit Liquidated(account, productId, msg.sender, price, reward);
    }

    /// @inheritdoc IPerpsExchange
    function marginToken() external view returns (address) {
        return address(_marginToken);
    }

    /// @inheritdoc IPerpsExchange
    function products() external view returns (Product[] memory all) {
        all = _products;
        for (uint256 i = 0; i < all.length; i++) all[i].markPrice = _oracle.priceOf(all[i].baseAsset);
    }

    /// @inheritdoc IPerpsExchange
    function positionsOf(address account) external view returns (Position[] memory positions) {
        positions = new Position[](_products.length);
        uint256 count = 0;
        for (uint256 i = 0; i < _products.length; i++) {
            Product storage product = _products[i];
            Holding memory holding = _holdings[account][product.id];
            if (holding.quantity == 0) continue;
            positions[count++] = Position({
                productId: product.id,
                isLong: holding.isLong,
                quantity: holding.quantity,
                entryPrice: Math.mulDiv(holding.cost, SCALE, holding.quantity),
                margin: holding.margin,
                unrealizedPnl: _pnlOf(holding, _markPriceOf(product)),
                liquidationPrice: _liquidationPriceOf(holding, product.maintenanceWeightBps)
            });
        }
        assembly ("memory-safe") {
            mstore(positions, count)
        }
    }

    /// @dev Takes `quantity` out of the holding; the rest of its margin is the equity. The house's funds limit gains.
    function _settle(Holding storage holding, uint256 quantity, uint256 worth) private returns (uint256 equity, int256 pnl) {
        Math.Rounding costRounding = holding.isLong ? Math.Rounding.Ceil : Math.Rounding.Floor;
        uint256 cost = Math.mulDiv(holding.cost, quantity, holding.quantity, costRounding);
        uint256 margin = Math.mulDiv(holding.margin, quantity, holding.quantity);
        pnl = holding.isLong ? int256(worth) - int256(cost) : int256(cost) - int256(worth);
        holding.quantity -= quantity;
        holding.cost -= cost;
        holding.margin -= margin;
        openInterest -= cost;
        if (pnl >= 0) {
            uint256 gain = Math.min(uint256(pnl), houseFunds);
            houseFunds -= gain;
            equity = margin + gain;
        } else {
            uint256 loss = Math.min(uint256(-pnl), margin);
            houseFunds += loss;
            equity = margin - loss;
        }
    }

    function _spendFreeMargin(uint256 amount) private {
        uint256 available = freeMargin[msg.sender];
        require(amount <= available, InsufficientMargin(amount, available));
        freeMargin[msg.sender] = available - amount;
    }

    function _productOf(uint32 productId) private view returns (Product storage) {
        require(productId > 0 && productId <= _products.length, ProductInactive(productId));
        return _products[productId - 1];
    }

    function _markPriceOf(Product storage product) private view returns (uint256 price) {
        price = _oracle.priceOf(product.baseAsset);
        require(price > 0, ProductInactive(product.id));
    }

    function _isLiquidatable(Product storage product, Holding memory holding) private view returns (bool) {
        uint256 price = _markPriceOf(product);
        uint256 worth = _worthOf(holding.quantity, price, true);
        int256 equity = int256(holding.margin) + _pnlOf(holding, price);
        return equity <= int256(_shareOf(worth, product.maintenanceWeightBps));
    }

    function _pnlOf(Holding memory holding, uint256 price) private pure returns (int256) {
        int256 worth = int256(_worthOf(holding.quantity, price, !holding.isLong));
        return holding.isLong ? worth - int256(holding.cost) : int256(holding.cost) - worth;
    }

    /// @dev The price at which margin plus gain equals the maintenance weight of the value; 0 for a long that no price liquidates.
    function _liquidationPriceOf(Holding memory holding, uint256 weightBps) private pure returns (uint256) {
        if (!holding.isLong) {
            return Math.mulDiv(holding.cost + holding.margin, SCALE * BPS, holding.quantity * (BPS + weightBps));
        }
        if (holding.margin >= holding.cost) return 0;
        return Math.mulDiv(holding.cost - holding.margin, SCALE * BPS, holding.quantity * (BPS - weightBps));
    }

    /// @dev Rounds up for a buyer, and down for a seller.
    function _worthOf(uint256 quantity, uint256 price, bool isBuying) private pure returns (uint256) {
        return Math.mulDiv(quantity, price, SCALE, isBuying ? Math.Rounding.Ceil : Math.Rounding.Floor);
    }

    function _shareOf(uint256 amount, uint256 bps) private pure returns (uint256) {
        return Math.ceilDiv(amount * bps, BPS);
    }

    function _requireWithinLimit(uint256 price, uint256 limitPrice, bool isBuying) private pure {
        require(isBuying ? price <= limitPrice : price >= limitPrice, PriceMoved(price, limitPrice));
    }
}
